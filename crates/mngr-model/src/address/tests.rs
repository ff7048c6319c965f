//! Every line of the grammar, and that all addresses survive being written and read again.

use proptest::prelude::*;

use super::*;
use crate::name::{NameError, NameProblem};

const HEX: &str = "0123456789abcdef0123456789abcdef";

fn agent_id() -> String {
    format!("agent-{HEX}")
}

fn host_id() -> String {
    format!("host-{HEX}")
}

fn parse<T: FromStr<Err = AddressError>>(text: &str) -> T {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn problem<T: FromStr<Err = AddressError> + fmt::Debug>(text: &str) -> AddressProblem {
    text.parse::<T>().unwrap_err().problem
}

fn host(text: &str, provider: Option<&str>) -> HostAddress {
    HostAddress { host: parse(text), provider: provider.map(|name| name.parse().unwrap()) }
}

#[test]
fn a_host_address_may_start_with_an_at_sign() {
    assert_eq!(parse::<HostAddress>("box"), host("box", None));
    assert_eq!(parse::<HostAddress>("@box.docker"), host("box", Some("docker")));
    assert_eq!(parse::<HostAddress>(&host_id()).host, HostRef::Id(host_id().parse().unwrap()));
}

#[test]
fn an_agent_address_has_a_name_or_id_and_maybe_a_host() {
    let address: AgentAddress = parse("foo@box.docker");
    assert_eq!(address.agent, AgentRef::Name("foo".parse().unwrap()));
    assert_eq!(address.host, Some(host("box", Some("docker"))));
    let coordinate = format!("{}@{}", agent_id(), host_id());
    let address: AgentAddress = parse(&coordinate);
    assert_eq!(address.agent, AgentRef::Id(agent_id().parse().unwrap()));
    assert_eq!(address.to_string(), coordinate);
}

#[test]
fn a_host_is_told_from_an_agent_by_its_shape() {
    let is_host = |text: &str| matches!(parse::<AgentOrHost>(text), AgentOrHost::Host(_));
    assert!(is_host("@box"));
    assert!(is_host("@box.docker"));
    assert!(is_host("box.docker"));
    assert!(is_host(&host_id()));
    assert!(!is_host("box"));
    assert!(!is_host("foo@box.docker"));
    assert!(!is_host(&agent_id()));
    assert!(!is_host("host-12"), "a name that only starts like an id");
}

#[test]
fn a_new_agent_goes_to_this_machine_a_named_host_or_a_new_one() {
    assert_eq!(parse::<NewLocation>(""), NewLocation::default());
    assert_eq!(parse::<NewLocation>("@.local"), NewLocation::default());
    assert_eq!(parse::<NewLocation>("@.modal").host, NewHost::New("modal".parse().unwrap()));
    assert_eq!(parse::<NewLocation>("@box").host, NewHost::Named(host("box", None)));
    let full: NewLocation = parse("foo@box.docker:/srv/a@b:c");
    assert_eq!(full.name, Some("foo".parse().unwrap()));
    assert_eq!(full.host, NewHost::Named(host("box", Some("docker"))));
    assert_eq!(full.path.as_deref(), Some("/srv/a@b:c"), "only the first `:` splits");
    assert_eq!(parse::<NewLocation>("foo:").path, None);
}

#[test]
fn an_id_is_no_name_for_a_new_agent() {
    let error = problem::<NewLocation>(&agent_id());
    assert!(
        matches!(error, AddressProblem::Name(NameError { problem: NameProblem::LooksLikeId, .. })),
        "{error:?}"
    );
}

#[test]
fn a_location_is_a_path_only_when_it_looks_like_one() {
    for text in ["/", "/a", "./a", "../a/b", "~/a", ".", "..", "~"] {
        assert!(matches!(parse::<Location>(text), Location::Local(_)), "{text}");
    }
    assert!(matches!(parse::<Location>(":a"), Location::Local(path) if path.path() == "a"));
    assert!(matches!(parse::<Location>("a"), Location::Agent { path: None, .. }));
    assert!(matches!(parse::<Location>("a:"), Location::Agent { path: None, .. }));
    assert!(
        matches!(parse::<Location>("a@b.c:x"), Location::Agent { path: Some(path), .. } if path.path() == "x")
    );
    assert!(matches!(parse::<Location>("@b.c:/x"), Location::Host { path, .. } if path.path() == "/x"));
    assert!(matches!(parse::<Location>("./a:b@c"), Location::Local(path) if path.path() == "./a:b@c"));
}

#[test]
fn a_slash_at_the_end_of_a_path_is_remembered() {
    let path = |text: &str| LocationPath::new(text).unwrap();
    assert_eq!((path("a/b/").path(), path("a/b/").has_trailing_slash()), ("a/b", true));
    assert_eq!((path("a/b").path(), path("a/b").has_trailing_slash()), ("a/b", false));
    assert_eq!((path("///").path(), path("///").to_string().as_str()), ("/", "/"));
    assert_eq!(parse::<Location>("a:b//").to_string(), "a:b/");
    assert_eq!(LocationPath::new(""), None);
}

#[test]
fn each_mistake_is_named() {
    assert_eq!(problem::<AgentAddress>(""), AddressProblem::Empty);
    assert_eq!(problem::<AgentAddress>("@box"), AddressProblem::MissingAgent);
    assert_eq!(problem::<AgentAddress>("foo@"), AddressProblem::MissingHost);
    assert_eq!(problem::<AgentAddress>("foo@.modal"), AddressProblem::MissingHost);
    assert_eq!(problem::<AgentAddress>("foo@box."), AddressProblem::MissingProvider);
    assert_eq!(problem::<AgentAddress>("foo@a.b.c"), AddressProblem::SecondDot);
    assert_eq!(problem::<AgentAddress>("foo@a@b"), AddressProblem::SecondAt);
    assert_eq!(problem::<AgentAddress>("foo@@a"), AddressProblem::SecondAt);
    assert_eq!(problem::<NewLocation>("foo@"), AddressProblem::MissingHost);
    assert_eq!(problem::<NewLocation>("foo@:/x"), AddressProblem::MissingHost);
    assert_eq!(problem::<Location>("@box"), AddressProblem::MissingPath);
    assert_eq!(problem::<Location>(":"), AddressProblem::MissingAgent);
    assert_eq!(problem::<HostAddress>("a\u{1b}b"), AddressProblem::ControlCharacter);
    assert_eq!(problem::<Location>(&format!("/{}", "x".repeat(10_000))), AddressProblem::TooLong);
}

#[test]
fn a_bad_part_is_shown_by_itself() {
    let error = "foo bar@box".parse::<AgentAddress>().unwrap_err().to_string();
    assert_eq!(
        error,
        "`foo bar@box` is not an agent address: `foo bar` is not a valid agent name: ` ` is not allowed, \
         only letters, digits, `_` and `-`"
    );
}

#[test]
fn hostile_texts_are_refused_by_every_kind_of_name() {
    let huge = "x".repeat(10_000);
    for text in
        ["..", "../..", "a/../b", "a..b", "$(id)", "`id`", "a;b", "-rf", "a\nb", "a\0b", "é", "*", &huge]
    {
        assert!(text.parse::<AgentAddress>().is_err(), "{text}");
        assert!(text.parse::<HostAddress>().is_err(), "{text}");
        assert!(text.parse::<NewLocation>().is_err(), "{text}");
        let error = text.parse::<AgentOrHost>().unwrap_err().to_string();
        assert!(error.len() < 300 && !error.contains(char::is_control), "{error}");
    }
}

fn any_name() -> impl Strategy<Value = String> {
    "[A-Za-z0-9]([A-Za-z0-9_-]{0,12}[A-Za-z0-9])?"
        .prop_filter("the local provider is no host part", |name| name != "local")
}

fn any_host() -> impl Strategy<Value = HostAddress> {
    let host = prop_oneof![
        any_name().prop_map(|name| HostRef::Name(name.parse().unwrap())),
        any::<[u8; 16]>().prop_map(|bytes| HostRef::Id(HostId::from_bytes(bytes))),
    ];
    let provider = proptest::option::of(any_name().prop_map(|name| name.parse().unwrap()));
    (host, provider).prop_map(|(host, provider)| HostAddress { host, provider })
}

fn any_agent() -> impl Strategy<Value = AgentAddress> {
    let agent = prop_oneof![
        any_name().prop_map(|name| AgentRef::Name(name.parse().unwrap())),
        any::<[u8; 16]>().prop_map(|bytes| AgentRef::Id(AgentId::from_bytes(bytes))),
    ];
    (agent, proptest::option::of(any_host())).prop_map(|(agent, host)| AgentAddress { agent, host })
}

fn any_path() -> impl Strategy<Value = LocationPath> {
    "[a-z~./:@ é'-]{1,12}".prop_map(|text| LocationPath::new(&text).unwrap())
}

fn any_location() -> impl Strategy<Value = Location> {
    prop_oneof![
        any_path().prop_map(Location::Local),
        (any_agent(), proptest::option::of(any_path()))
            .prop_map(|(address, path)| Location::Agent { address, path }),
        (any_host(), any_path()).prop_map(|(address, path)| Location::Host { address, path }),
    ]
}

fn any_new_location() -> impl Strategy<Value = NewLocation> {
    let host = prop_oneof![
        Just(NewHost::Local),
        any_host().prop_map(NewHost::Named),
        any_name().prop_map(|name| NewHost::New(name.parse().unwrap())),
    ];
    let name = proptest::option::of(any_name().prop_map(|name| name.parse().unwrap()));
    let path = proptest::option::of("[a-z~./:@ é'-]{1,12}");
    (name, host, path).prop_map(|(name, host, path)| NewLocation { name, host, path })
}

proptest! {
    #[test]
    fn every_address_reads_back_as_it_was(
        host in any_host(), agent in any_agent(), location in any_location(), new in any_new_location(),
    ) {
        prop_assert_eq!(parse::<AgentOrHost>(&AgentOrHost::Host(host.clone()).to_string()), AgentOrHost::Host(host.clone()));
        prop_assert_eq!(parse::<AgentOrHost>(&agent.to_string()), AgentOrHost::Agent(agent.clone()));
        prop_assert_eq!(parse::<HostAddress>(&host.to_string()), host);
        prop_assert_eq!(parse::<AgentAddress>(&agent.to_string()), agent);
        prop_assert_eq!(parse::<Location>(&location.to_string()), location);
        prop_assert_eq!(parse::<NewLocation>(&new.to_string()), new);
    }

    #[test]
    fn no_text_makes_it_panic_and_what_is_accepted_reads_back(text in "[a-z@.:/~-]{0,12}|\\PC{0,20}|.{0,20}") {
        if let Ok(parsed) = text.parse::<AgentOrHost>() {
            prop_assert_eq!(parse::<AgentOrHost>(&parsed.to_string()), parsed);
        }
        if let Ok(parsed) = text.parse::<Location>() {
            prop_assert_eq!(parse::<Location>(&parsed.to_string()), parsed);
        }
        if let Ok(parsed) = text.parse::<NewLocation>() {
            prop_assert_eq!(parse::<NewLocation>(&parsed.to_string()), parsed);
        }
    }

    #[test]
    fn control_characters_are_refused_wherever_they_stand(before in "[a-z@.:/]{0,6}", bad in "[\\x00-\\x1f\\x7f]", after in "[a-z@.:/]{0,6}") {
        let text = format!("{before}{bad}{after}");
        prop_assert_eq!(problem::<Location>(&text), AddressProblem::ControlCharacter);
        prop_assert_eq!(problem::<AgentOrHost>(&text), AddressProblem::ControlCharacter);
    }
}
