//! What a user asks of a container, as words of `docker build` and `docker create`. Pure: nothing is run here.

use mngr_host::provider::{NewHost, SnapshotId};
use mngr_model::HostPath;
use mngr_model::host::HostInfo;

use crate::container::{
    self, HELPER_OF, HOME, HOST_DIR, HOST_ID, HOST_NAME, MADE_BY, PROVIDER, SNAPSHOT, TAGS,
};
use crate::keeper::KEEPER;

/// The recipe of the image that is used where none is named.
pub(crate) const DEFAULT_DOCKERFILE: &str = include_str!("../../../examples/docker/Dockerfile");

/// What is asked for cannot be had.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecipeError {
    /// An engine does not look into where packets go.
    #[error(
        "a Docker engine cannot enforce `cidr-allowlist`; `-b offline` cuts a host off from every network"
    )]
    CidrAllowlist,
    /// It would undo what was asked.
    #[error("`-b offline` and the start argument `{arg}` contradict each other")]
    NetworkOfOffline {
        /// The argument.
        arg: String,
    },
    /// The container would not be found again, or not be ours to end.
    #[error("the start argument `{arg}` is mngr's own")]
    Reserved {
        /// The argument.
        arg: String,
    },
    /// Only one of them can be what a host begins as.
    #[error("a host begins as an image, a build or a snapshot, not as two of them")]
    TwoSources,
}

/// What a container begins as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// The configured image, or the one of our own recipe.
    Default,
    /// This image.
    Image(String),
    /// What `docker build` makes of these words.
    Build(Vec<String>),
    /// A snapshot.
    Snapshot(SnapshotId),
}

/// Which networks it sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    /// Those of the engine, or what the start arguments say.
    Usual,
    /// None.
    Offline,
}

/// What was asked, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recipe {
    /// What it begins as.
    pub(crate) source: Source,
    /// Which networks it sees.
    pub(crate) network: Network,
}

/// Flags of `docker create` that would take from us what we rely on.
const RESERVED: &[&str] = &["--name", "--rm", "--entrypoint", "--cidfile", "--init=false"];

impl Recipe {
    /// Understands what was asked for a host.
    pub(crate) fn of(new: &NewHost, default_start_args: &[String]) -> Result<Self, RecipeError> {
        let mut network = Network::Usual;
        let mut image = None;
        let mut build = Vec::new();
        for arg in &new.build_args {
            let word = arg.strip_prefix("--").unwrap_or(arg);
            match word.split_once('=') {
                _ if word == "offline" => network = Network::Offline,
                _ if word == "cidr-allowlist" => return Err(RecipeError::CidrAllowlist),
                Some(("cidr-allowlist", _)) => return Err(RecipeError::CidrAllowlist),
                Some(("image", name)) => image = Some(name.to_owned()),
                _ => build.push(arg.clone()),
            }
        }
        let start_args = || default_start_args.iter().chain(&new.start_args);
        let flag = |arg: &str| arg.split('=').next().unwrap_or_default().to_owned();
        if let Some(arg) = start_args()
            .find(|arg| RESERVED.contains(&arg.as_str()) || RESERVED.contains(&flag(arg).as_str()))
        {
            return Err(RecipeError::Reserved { arg: arg.clone() });
        }
        let is_network = |arg: &&String| ["--network", "--net"].contains(&flag(arg).as_str());
        if let Some(arg) = start_args().find(is_network).filter(|_| network == Network::Offline) {
            return Err(RecipeError::NetworkOfOffline { arg: arg.clone() });
        }
        let asked = match (image, build.is_empty(), &new.snapshot) {
            (None, true, None) => Source::Default,
            (Some(image), true, None) => Source::Image(image),
            (None, false, None) => Source::Build(build),
            (None, true, Some(snapshot)) => Source::Snapshot(snapshot.clone()),
            _ => return Err(RecipeError::TwoSources),
        };
        let source = new.stand_in.clone().map_or(asked, Source::Snapshot);
        Ok(Self { source, network })
    }
}

/// The words of `docker create` for a host.
pub(crate) fn create_words(
    new: &NewHost,
    info: &HostInfo,
    network: Network,
    container_name: &str,
    image: &str,
    default_start_args: &[String],
    made_by: &str,
) -> Vec<String> {
    let mut words: Vec<String> = ["create", "--init", "--name", container_name].map(str::to_owned).to_vec();
    let tags = serde_json::json!(new.tags).to_string();
    // An image made from a host has labels of its own, which must not speak for this one.
    let labels = [
        (HOST_ID, info.id.as_str()),
        (HOST_NAME, info.name.as_str()),
        (PROVIDER, info.provider.as_str()),
        (HOST_DIR, info.host_dir.as_str()),
        (TAGS, &tags),
        (HOME, info.home.as_ref().map_or("", HostPath::as_str)),
        (MADE_BY, made_by),
        (HELPER_OF, ""),
        (SNAPSHOT, ""),
    ];
    words.extend(labels.iter().map(|(name, value)| format!("--label={name}={value}")));
    words.push(format!("--volume={}", mount(&container::volume_of(&new.id), &info.host_dir)));
    if network == Network::Offline {
        words.push("--network=none".to_owned());
    }
    words.extend(new.cpus.iter().map(|cpus| format!("--cpus={cpus}")));
    words.extend(new.memory.iter().map(|memory| format!("--memory={memory}")));
    words.extend(default_start_args.iter().chain(&new.start_args).cloned());
    let run = ["--entrypoint=/bin/sh", "--stop-signal=TERM", "--", image, "-c", KEEPER, "keeper"];
    words.extend(run.map(str::to_owned));
    words.extend([info.host_dir.to_string(), info.id.to_string()]);
    words
}

fn mount(volume: &str, at: &HostPath) -> String {
    format!("{volume}:{at}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(build_args: &[&str], start_args: &[&str]) -> NewHost {
        let id = mngr_model::HostId::from_bytes([7; 16]);
        let mut new = NewHost::new(id, "box".parse().unwrap());
        new.build_args = build_args.iter().map(|arg| (*arg).to_owned()).collect();
        new.start_args = start_args.iter().map(|arg| (*arg).to_owned()).collect();
        new
    }

    fn recipe(build_args: &[&str], start_args: &[&str]) -> Result<Recipe, RecipeError> {
        Recipe::of(&new(build_args, start_args), &[])
    }

    #[test]
    fn words_of_the_policy_are_taken_out_of_those_of_the_build() {
        let found = recipe(&["offline", "--file=D", "."], &[]).unwrap();
        assert_eq!(found.network, Network::Offline);
        assert_eq!(found.source, Source::Build(vec!["--file=D".to_owned(), ".".to_owned()]));
        assert_eq!(recipe(&["image=x:1"], &[]).unwrap().source, Source::Image("x:1".to_owned()));
        assert_eq!(recipe(&["--offline"], &[]).unwrap().source, Source::Default);
    }

    #[test]
    fn a_policy_that_the_engine_cannot_enforce_is_refused() {
        for arg in ["cidr-allowlist=10.0.0.0/8", "--cidr-allowlist=10.0.0.0/8", "--cidr-allowlist"] {
            assert_eq!(recipe(&[arg], &[]), Err(RecipeError::CidrAllowlist));
        }
        let found = recipe(&["offline"], &["--network=host"]);
        assert_eq!(found, Err(RecipeError::NetworkOfOffline { arg: "--network=host".to_owned() }));
    }

    #[test]
    fn start_arguments_cannot_take_our_marks_away() {
        for arg in ["--name=x", "--rm", "--entrypoint"] {
            assert_eq!(recipe(&[], &[arg]), Err(RecipeError::Reserved { arg: arg.to_owned() }));
        }
        assert!(recipe(&[], &["--env=A=--rm"]).is_ok());
    }

    #[test]
    fn a_host_has_one_source() {
        assert_eq!(recipe(&["image=x", "."], &[]), Err(RecipeError::TwoSources));
        let mut both = new(&["image=x"], &[]);
        both.snapshot = Some(SnapshotId::new("sha256:1"));
        assert_eq!(Recipe::of(&both, &[]), Err(RecipeError::TwoSources));
    }

    #[test]
    fn a_copy_stands_in_for_what_was_asked_and_the_policy_stays() {
        let copy = SnapshotId::new("sha256:1");
        let mut new = new(&["image=x", "offline"], &[]);
        new.stand_in = Some(copy.clone());
        let found = Recipe::of(&new, &[]).unwrap();
        assert_eq!((found.source, found.network), (Source::Snapshot(copy), Network::Offline));
    }

    #[test]
    fn what_was_asked_is_in_the_words_and_our_own_come_last() {
        let mut new = new(&[], &["--env=A=1"]);
        new.cpus = Some("2".to_owned());
        new.memory = Some("4g".to_owned());
        let info = HostInfo {
            id: new.id.clone(),
            name: new.name.clone(),
            provider: "docker".parse().unwrap(),
            host_dir: HostPath::new("/mngr"),
            home: None,
        };
        let words = create_words(
            &new,
            &info,
            Network::Offline,
            "mngr-box",
            "img",
            &["--pull=never".to_owned()],
            "me",
        );
        for word in ["--cpus=2", "--memory=4g", "--network=none", "--env=A=1", "--pull=never"] {
            assert!(words.contains(&word.to_owned()), "{word} is missing in {words:?}");
        }
        assert!(words.contains(&format!("--label={HOST_ID}={}", new.id)));
        let end = &words[words.len() - 7..];
        assert_eq!(end[..3], ["--", "img", "-c"].map(str::to_owned));
        assert_eq!(end[4..], ["keeper".to_owned(), "/mngr".to_owned(), new.id.to_string()]);
    }
}
