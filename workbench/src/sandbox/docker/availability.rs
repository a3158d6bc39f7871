//! Whether scripts can run in containers here: the engine and the image, or which of them is missing.

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
}

impl Unavailable {
    /// One way on.
    pub fn hint(&self) -> String {
        match self {
            Self::Engine(error) => error.hint(),
            Self::Image(error) => error.hint().to_owned(),
        }
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
