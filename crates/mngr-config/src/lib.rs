//! What the user may set: keys, layers, merging, origins, editing, trust.
//!
//! Everything here is pure. The caller reads files and the environment and hands in text; it gets back typed
//! [`Settings`], each value with its [`Origin`], or an error that names file, line, key and what was probably meant.
//! Nothing here may touch a file, a process, the environment or the clock, or print.
//!
//! ```
//! use mngr_config::{BuildOptions, KeyPath, Layer, LayerKind, Merged};
//!
//! let user = Layer::from_toml(LayerKind::User, "settings.toml", "[tmux]\nsocket = \"mine\"\n")?;
//! let merged = Merged::build(&[user], &BuildOptions::default())?;
//! assert_eq!(merged.settings().tmux.socket.as_str(), "mine");
//!
//! let (_, origin) = merged.get(&KeyPath::from_segments(["tmux", "socket"])).ok_or("missing")?;
//! assert_eq!(origin.to_string(), "settings.toml:2:1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod declare;
pub mod edit;
mod environment;
mod error;
mod key;
mod keys;
mod kind;
mod layer;
mod merge;
mod merged;
mod origin;
mod problem;
pub mod schema;
mod tree;
pub mod trust;
pub mod value;

pub use error::ConfigError;
pub use key::{KeyError, KeyPath};
pub use keys::agent_type::{AgentTypeSettings, CliArgs, UpdatePolicy};
pub use keys::command::{AnyOption, CommandSettings, KnownOptions};
pub use keys::duration::DurationSetting;
pub use keys::housekeeping::{ExecSettings, StopSettings, TrashSettings};
pub use keys::logging::{LogLevel, LoggingSettings};
pub use keys::names::{Prefix, SocketName, WindowName};
pub use keys::plugin::PluginSettings;
pub use keys::pool::PoolSettings;
pub use keys::price::{DaySetting, PriceSettings};
pub use keys::provider::{ImageBuilder, LOCAL_BACKEND, ProviderSettings, SshHostSettings};
pub use keys::retry::RetrySettings;
pub use keys::screen::{
    DeliverySettings, FramingSetting, InputBoxSettings, Pattern, ProofFolder, ProofSettings, ScreenCondition,
    ScreenPlace, ScreenReason, ScreenRuleSettings, ScreenState, TextStyle,
};
pub use keys::template::{CreateTemplate, TemplateSetting};
pub use keys::tmr::{
    CollectorSettings, ContractSettings, Forbidden, HostsAfter, IdFormat, ReadOnly, ReportFormat,
    TmrPermissions, TmrSettings,
};
pub use keys::tmux::TmuxSettings;
pub use keys::top::{ExtraPath, Settings};
pub use layer::{DEFAULTS_TOML, Layer, LayerError};
pub use merge::{MergeError, Narrowing};
pub use merged::{BuildOptions, Merged, Unknown};
pub use origin::{LayerKind, Origin, Place};
pub use problem::{Fault, Problem, Problems};
pub use tree::Leaf;
