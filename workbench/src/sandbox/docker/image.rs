//! The image that containers are made from: found by a name that changes with its Dockerfile, built through the API.

use std::collections::HashMap;

use bollard::body_full;
use bollard::errors::Error as ApiError;
use bollard::models::BuildInfo;
use bollard::query_parameters::BuildImageOptionsBuilder;
use futures::StreamExt as _;
use sha2::{Digest as _, Sha256};

use super::engine::Engine;

/// What the image is built from.
const DOCKERFILE: &str = include_str!("../../../sandbox/Dockerfile");

/// Says on the image which version of the workbench built it. Containers inherit the labels of their image, so this is
/// none of those by which containers are known as ours.
const LABEL_BUILT_BY: &str = "workbench.image";

/// Says on the image what it was built from.
const LABEL_BASE: &str = "workbench.base";

/// How much of what a failed step printed is kept, in bytes, counted from its end.
const KEPT_OUTPUT: usize = 2000;

/// The longest line about a step, in characters.
const LONGEST_STEP: usize = 100;

/// An image that is there.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Image {
    /// What containers are made from: a tag can be moved to another image, an id cannot.
    pub id: String,
    /// Its name.
    pub tag: String,
    /// What it was built from.
    pub base: String,
    /// Its name by digest, when the engine gives it one: with a registry in it, others can get the same image.
    pub digest: Option<String>,
}

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// It was not built yet, or by a workbench with another Dockerfile.
    #[error("the engine has no image `{tag}`, which scripts run in")]
    Missing {
        /// Its name.
        tag: String,
    },
    /// The engine cannot tell.
    #[error("the engine cannot say whether it has the image `{tag}`: {reason}")]
    Unknown {
        /// Its name.
        tag: String,
        /// What it says.
        reason: String,
    },
    /// The build ended early.
    #[error("the image cannot be built from `{base}`: {reason}")]
    Build {
        /// What it is built from.
        base: String,
        /// What the engine says, and what the step that failed printed.
        reason: String,
    },
}

impl ImageError {
    /// One way on.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "build it: `workbench sandbox build`",
            Self::Unknown { .. } => "look whether the engine is well: `workbench sandbox status`",
            Self::Build { .. } => {
                "the base is pulled when the engine does not have it; where there is no registry, name one that it has: \
                 `workbench sandbox build --base IMAGE`. It needs a shell, find, timeout and Python 3.9 or newer; \
                 docs/sandbox.md tells how to make one"
            }
        }
    }
}

/// The image's name.
pub fn tag() -> String {
    let digest: String = Sha256::digest(DOCKERFILE).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("workbench-sandbox:{digest}")
}

/// What the image is built from when nothing else is named.
pub fn default_base() -> &'static str {
    DOCKERFILE.lines().find_map(|line| line.strip_prefix("ARG BASE=")).unwrap_or_default()
}

/// The image as the engine has it.
///
/// # Errors
/// When it does not have it.
pub async fn find(engine: &Engine) -> Result<Image, ImageError> {
    let tag = tag();
    let found = match engine.docker().inspect_image(&tag).await {
        Ok(found) => found,
        Err(ApiError::DockerResponseServerError { status_code: 404, .. }) => return Err(ImageError::Missing { tag }),
        Err(error) => return Err(ImageError::Unknown { tag, reason: error.to_string() }),
    };
    let Some(id) = found.id else { return Err(ImageError::Unknown { tag, reason: "it has no id".to_owned() }) };
    let labels = found.config.and_then(|config| config.labels).unwrap_or_default();
    let base = labels.get(LABEL_BASE).cloned().unwrap_or_default();
    let digest = found.repo_digests.unwrap_or_default().into_iter().next();
    Ok(Image { id, tag, base, digest })
}

/// Builds the image from `base`, or from the Dockerfile's own, and tells of each step.
///
/// # Errors
/// When the engine cannot get the base, or a step fails.
pub async fn build(engine: &Engine, base: Option<&str>, progress: &dyn Fn(&str)) -> Result<Image, ImageError> {
    let base = base.unwrap_or(default_base());
    let failed = |reason: String| ImageError::Build { base: base.to_owned(), reason };
    let labels = HashMap::from([(LABEL_BUILT_BY, env!("CARGO_PKG_VERSION")), (LABEL_BASE, base)]);
    let options = BuildImageOptionsBuilder::new()
        .t(&tag())
        .buildargs(&HashMap::from([("BASE", base)]))
        .labels(&labels)
        .networkmode("none")
        .rm(true)
        .forcerm(true)
        .build();
    let context = context().map_err(|error| failed(error.to_string()))?;
    let mut steps = engine.docker().build_image(options, None, Some(body_full(context.into())));
    let mut output = String::new();
    while let Some(news) = steps.next().await {
        // The message says which command failed, and not what it printed.
        let news = news.map_err(|error| failed(format!("{output}{}", words(error))))?;
        tell(&news, &mut output, progress);
    }
    find(engine).await
}

/// What the engine says, without what the client puts before it.
fn words(error: ApiError) -> String {
    match error {
        ApiError::DockerStreamError { error } => error,
        ApiError::DockerResponseServerError { message, .. } => message,
        other => other.to_string(),
    }
}

/// Tells of steps and of layers that have arrived; keeps what a step prints, in case it fails.
fn tell(news: &BuildInfo, output: &mut String, progress: &dyn Fn(&str)) {
    if let Some(text) = &news.stream {
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            // Podman shouts.
            if line.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("step ")) {
                output.clear();
                progress(&beginning(line));
            } else if !["--", "Removing intermediate container"].iter().any(|start| line.starts_with(start)) {
                output.push_str(line);
                output.push('\n');
            }
        }
        let surplus = output.len().saturating_sub(KEPT_OUTPUT);
        output.drain(..output.ceil_char_boundary(surplus));
    }
    match (&news.status, &news.id) {
        (Some(status), Some(id)) if status == "Pull complete" || status.starts_with("Pulling from ") => {
            progress(&format!("{id}: {status}"));
        }
        (Some(status), None) => progress(status),
        _ => {}
    }
}

/// A step as one line that fits: commands of several lines come as one.
fn beginning(step: &str) -> String {
    let words = step.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(LONGEST_STEP) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// The archive with the Dockerfile.
fn context() -> std::io::Result<Vec<u8>> {
    let mut header = tar::Header::new_gnu();
    header.set_size(DOCKERFILE.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    let mut archive = tar::Builder::new(Vec::new());
    archive.append_data(&mut header, "Dockerfile", DOCKERFILE.as_bytes())?;
    archive.into_inner()
}
