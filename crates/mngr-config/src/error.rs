//! Why there are no settings to work with.

use crate::layer::LayerError;
use crate::merge::MergeError;
use crate::problem::Problems;

/// Any failure on the way from texts to [`crate::Settings`].
#[derive(Debug, Clone, thiserror::Error)]
pub enum ConfigError {
    /// A source cannot be read.
    #[error(transparent)]
    Layer(#[from] LayerError),
    /// Keys are unknown, or values wrong.
    #[error(transparent)]
    Problems(#[from] Problems),
    /// Layers contradict each other.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// The merged values do not make up settings, though each passed its check.
    #[error("the merged settings are incomplete")]
    Typed {
        /// What is missing.
        #[source]
        source: toml::de::Error,
    },
}
