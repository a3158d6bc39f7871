//! What a command that ended in the middle leaves in the engine: nothing that runs, and nothing at all once it is swept.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::time::{Duration, Instant};

use workbench::sandbox::docker::engine::Engine;
use workbench::sandbox::docker::sweep;

use crate::patience;

/// Nothing is left of a command once another one has begun. Two that sweep at once may each leave the last word to the other.
pub(crate) async fn gone_or_swept(engine: &Engine, process: u32, what: &str) {
    let begun = Instant::now();
    loop {
        sweep::sweep(engine).await.unwrap();
        let ours = sweep::belongings(engine).await.unwrap();
        let left: Vec<_> = ours.iter().filter(|one| one.process == Some(process)).collect();
        if left.is_empty() {
            return;
        }
        assert!(begun.elapsed() < patience::PATIENCE, "{what}: {left:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Whoever is killed cannot remove its containers: they end by themselves.
pub(crate) async fn until_ended(engine: &Engine, process: u32, what: &str) {
    let begun = Instant::now();
    loop {
        let ours = sweep::belongings(engine).await.unwrap();
        let mut running = 0;
        for one in ours.iter().filter(|one| one.process == Some(process) && one.kind == sweep::Kind::Container) {
            let options = None::<bollard::query_parameters::InspectContainerOptions>;
            let Ok(seen) = engine.docker().inspect_container(&one.name, options).await else { continue };
            running += usize::from(seen.state.and_then(|state| state.running).unwrap_or(false));
        }
        if running == 0 {
            return;
        }
        assert!(begun.elapsed() < patience::PATIENCE, "{what}: it still runs");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
