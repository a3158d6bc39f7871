//! Containers for tests: the sandbox `docker` where an engine and the image are here, and what is left in the engine.
#![allow(clippy::unwrap_used, clippy::print_stderr, dead_code, reason = "each test file uses a part of it")]

use std::sync::Arc;

use workbench::sandbox::Sandbox;
use workbench::sandbox::docker::{Docker, DockerSettings};

use crate::scripts::LIMITS;

/// The sandbox; nothing, and a line that says so, on a machine without engine or image. CI may not be one.
pub(crate) async fn docker(settings: DockerSettings) -> Option<Arc<dyn Sandbox>> {
    match Docker::open(settings, "test", LIMITS.memory).await {
        Ok(docker) => Some(Arc::new(docker)),
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "CI must run this: {error}");
            eprintln!("skipped: {error}");
            None
        }
    }
}
