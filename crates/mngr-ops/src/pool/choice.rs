//! Which host of a pool a new agent goes to. Pure.

/// How many agents a host has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Load {
    /// Those that are at work, or about to be.
    pub(super) at_work: usize,
    /// All of them.
    pub(super) all: usize,
}

/// Whether a host can take an agent right away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It can, at the latest when whoever makes it is done.
    Ready,
    /// It has to be started first. Nobody is at work there.
    Asleep,
}

/// A host of the pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// `name.provider`.
    pub(super) address: String,
    pub(super) load: Load,
    pub(super) standing: Standing,
}

/// When a pool gets one more host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// Never: its hosts are those that are there.
    Never,
    /// For every agent that would have company otherwise, up to this many.
    Evenly {
        /// How many hosts it has at most.
        size: usize,
    },
    /// When all are full.
    WhenFull,
}

/// What a pool allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rules {
    /// How many agents may be at work on one host.
    pub(super) per_host: Option<usize>,
    /// When it gets one more host.
    pub(super) growth: Growth,
}

/// Where an agent goes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Choice<'m> {
    /// To this host.
    Use(&'m Member),
    /// To this host, which has to be started.
    Wake(&'m Member),
    /// To a host that has to be made.
    Make,
    /// Nowhere.
    Full,
}

/// Chooses the host with the fewest agents at work; of equal ones that with the fewest agents, then the first.
pub(super) fn choose(members: &[Member], rules: Rules) -> Choice<'_> {
    let has_room = |member: &&Member| rules.per_host.is_none_or(|limit| member.load.at_work < limit);
    let ready = members.iter().filter(|member| member.standing == Standing::Ready);
    let emptiest = ready.filter(has_room).min_by_key(|member| member.load);
    let asleep = members.iter().filter(|member| member.standing == Standing::Asleep);
    let asleep = asleep.min_by_key(|member| member.load);
    let may_grow = match rules.growth {
        Growth::Never => false,
        Growth::Evenly { size } => members.len() < size,
        Growth::WhenFull => true,
    };
    let spreads = rules.growth != Growth::WhenFull;
    match emptiest {
        Some(member) if !spreads || member.load.at_work == 0 => Choice::Use(member),
        found => match (asleep, found) {
            (Some(member), _) => Choice::Wake(member),
            (None, _) if may_grow => Choice::Make,
            (None, Some(member)) => Choice::Use(member),
            (None, None) => Choice::Full,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(address: &str, at_work: usize, all: usize) -> Member {
        Member { address: address.to_owned(), load: Load { at_work, all }, standing: Standing::Ready }
    }

    fn asleep(address: &str) -> Member {
        Member { standing: Standing::Asleep, ..member(address, 0, 0) }
    }

    const NEVER: Rules = Rules { per_host: None, growth: Growth::Never };

    #[test]
    fn the_host_with_the_fewest_agents_at_work_is_taken_and_stopped_ones_only_decide_between_equals() {
        let members = [member("a", 2, 2), member("b", 1, 9), member("c", 1, 3), member("d", 1, 3)];
        assert_eq!(choose(&members, NEVER), Choice::Use(&members[2]));
    }

    #[test]
    fn a_hundred_agents_over_ten_hosts_are_ten_each() {
        let mut members: Vec<Member> = Vec::new();
        let rules = Rules { per_host: Some(10), growth: Growth::Evenly { size: 10 } };
        for _ in 0..100 {
            let at = match choose(&members, rules) {
                Choice::Use(member) => members.iter().position(|other| other == member).unwrap(),
                Choice::Make => {
                    members.push(member(&members.len().to_string(), 0, 0));
                    members.len() - 1
                }
                other => panic!("{other:?}"),
            };
            members[at].load.at_work += 1;
            members[at].load.all += 1;
        }
        assert!(members.len() == 10 && members.iter().all(|member| member.load.at_work == 10), "{members:?}");
        assert_eq!(choose(&members, rules), Choice::Full);
    }

    #[test]
    fn hosts_without_a_number_are_filled_before_one_more_is_made() {
        let rules = Rules { per_host: Some(4), growth: Growth::WhenFull };
        assert_eq!(choose(&[], rules), Choice::Make);
        let members = [member("a", 4, 4), member("b", 3, 3)];
        assert_eq!(choose(&members, rules), Choice::Use(&members[1]));
        let full = [member("a", 4, 4), member("b", 4, 8)];
        assert_eq!(choose(&full, rules), Choice::Make);
        let full = [member("a", 4, 4), asleep("b")];
        assert_eq!(
            choose(&full, rules),
            Choice::Wake(&full[1]),
            "a host that is there comes before a new one"
        );
    }

    #[test]
    fn an_agent_gets_company_only_when_no_host_is_free_asleep_or_to_be_made() {
        let rules = Rules { per_host: None, growth: Growth::Evenly { size: 3 } };
        let members = [member("a", 1, 1), asleep("b")];
        assert_eq!(choose(&members, rules), Choice::Wake(&members[1]));
        let members = [member("a", 1, 1), member("b", 1, 1)];
        assert_eq!(choose(&members, rules), Choice::Make);
        let members = [member("a", 1, 1), member("b", 0, 7)];
        assert_eq!(choose(&members, rules), Choice::Use(&members[1]));
        let members = [member("a", 2, 2), member("b", 1, 1), member("c", 1, 1)];
        assert_eq!(choose(&members, rules), Choice::Use(&members[1]));
    }

    #[test]
    fn a_pool_without_room_is_full() {
        let rules = Rules { per_host: Some(1), growth: Growth::Never };
        assert_eq!(choose(&[member("a", 1, 1)], rules), Choice::Full);
        assert_eq!(choose(&[], NEVER), Choice::Full);
    }
}
