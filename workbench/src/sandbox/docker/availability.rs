//! Whether scripts can run in containers here: the engine, the image and the runtime, or which of them is missing.

use super::engine::{Engine, EngineError};
use super::image::{self, Image, ImageError};

/// All that containers need.
#[derive(Clone, Debug)]
pub struct Available {
    /// The engine.
    pub engine: Engine,
    /// The image it has.
    pub image: Image,
}

/// What is missing.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The image.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The runtime that the user chose.
    #[error("the container engine at {address} offers no runtime `{name}`; it offers {}", .offered.join(", "))]
    Runtime {
        /// Where the engine is.
        address: String,
        /// The runtime.
        name: String,
        /// Those it has.
        offered: Vec<String>,
    },
}

impl Unavailable {
    /// One way on.
    pub fn hint(&self) -> String {
        match self {
            Self::Engine(error) => error.hint(),
            Self::Image(error) => error.hint().to_owned(),
            Self::Runtime { .. } => {
                "name one of these, leave `--runtime` out, or install that one and tell the engine of it".to_owned()
            }
        }
    }
}

impl Available {
    /// Asks for a runtime that the user chose. An engine refuses an unknown one only when it makes a container: after the
    /// model's first answer is paid for.
    ///
    /// # Errors
    /// When the engine lists its runtimes, and this is none of them.
    pub async fn offers(&self, runtime: &str) -> Result<(), Unavailable> {
        // The name of a shim, such as `io.containerd.runsc.v1`, and a path may be known without being listed.
        if runtime.contains(['.', '/']) {
            return Ok(());
        }
        let offered = self.engine.runtimes().await;
        if offered.is_empty() || offered.iter().any(|one| one == runtime) {
            return Ok(());
        }
        Err(Unavailable::Runtime { address: self.engine.address(), name: runtime.to_owned(), offered })
    }
}

/// Finds engine and image.
///
/// # Errors
/// When one of them is not there.
pub async fn look() -> Result<Available, Unavailable> {
    let engine = Engine::connect().await?;
    let image = image::find(&engine).await?;
    Ok(Available { engine, image })
}
