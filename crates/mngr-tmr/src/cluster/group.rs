//! The tree of groups, after Drain (He et al., 2017), with fixed numbers instead of tuning.

use std::collections::BTreeMap;

use super::mask::mask;

/// How many of the first words lead to a leaf. More would split messages that begin with a name.
const LEADING_WORDS: usize = 2;

/// What share of words must be equal for a message to join a group.
const SIMILARITY: f64 = 0.5;

/// Stands for words that differ within a group.
const ANY: &str = "<*>";

/// Failures with one cause, as far as their words tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// The stage in which they failed.
    pub stage: String,
    /// What they have in common; `<*>` stands for what differs.
    pub template: String,
    /// The first message, as it was.
    pub example: String,
    /// Whether another message differs from it at all.
    pub varies: bool,
    /// Who failed, in the order in which they were added.
    pub members: Vec<String>,
}

/// Where a leaf is: stage, number of words, leading words.
type Leaf = (String, usize, Vec<String>);

struct Group {
    stage: String,
    words: Vec<String>,
    example: String,
    varies: bool,
    members: Vec<String>,
}

/// Groups failures as they come in.
#[derive(Default)]
pub struct Clusters {
    groups: Vec<Group>,
    leaves: BTreeMap<Leaf, Vec<usize>>,
}

impl Clusters {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one failure and returns the number of its group, which never changes, and how many the group has now.
    pub fn add(&mut self, stage: &str, member: &str, message: &str) -> (usize, usize) {
        let masked = mask(message);
        let words: Vec<String> = masked.split(' ').map(str::to_owned).collect();
        let leading = words.iter().take(LEADING_WORDS).map(|word| route(word)).collect();
        let leaf = self.leaves.entry((stage.to_owned(), words.len(), leading)).or_default();
        let best = leaf
            .iter()
            .map(|number| (similarity(&self.groups[*number].words, &words), *number))
            .filter(|(similarity, _)| *similarity >= SIMILARITY)
            // The earlier of two equals, so that the result does not depend on chance.
            .max_by(|(one, a), (other, b)| one.total_cmp(other).then(b.cmp(a)));
        let number = match best {
            Some((_, number)) => {
                merge(&mut self.groups[number].words, &words);
                number
            }
            None => {
                leaf.push(self.groups.len());
                let (stage, example) = (stage.to_owned(), message.to_owned());
                self.groups.push(Group { stage, words, example, varies: false, members: Vec::new() });
                self.groups.len() - 1
            }
        };
        let group = &mut self.groups[number];
        group.varies |= group.example != message;
        group.members.push(member.to_owned());
        (number, group.members.len())
    }

    /// All groups, the largest first; of two equals the one that appeared first.
    pub fn clusters(&self) -> Vec<Cluster> {
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by_key(|number| (usize::MAX - self.groups[*number].members.len(), *number));
        order.into_iter().filter_map(|number| self.cluster(number)).collect()
    }

    /// The group of that number, as [`Clusters::add`] returned it.
    pub fn cluster(&self, number: usize) -> Option<Cluster> {
        let group = self.groups.get(number)?;
        Some(Cluster {
            stage: group.stage.clone(),
            template: group.words.join(" "),
            example: group.example.clone(),
            varies: group.varies,
            members: group.members.clone(),
        })
    }
}

/// A word with a mask in it says nothing about where a message belongs.
fn route(word: &str) -> String {
    if word.contains('<') { ANY.to_owned() } else { word.to_owned() }
}

fn similarity(group: &[String], words: &[String]) -> f64 {
    let equal = group.iter().zip(words).filter(|(a, b)| a == b).count();
    equal as f64 / words.len().max(1) as f64
}

fn merge(group: &mut [String], words: &[String]) {
    for (known, word) in group.iter_mut().zip(words) {
        if known != word {
            *known = ANY.to_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forty_launch_errors_are_one_line_and_others_stay_apart() {
        let mut clusters = Clusters::new();
        for n in 0..40 {
            let message = format!("cannot create agent `t-{n}`: connection to 10.0.0.{n}:22 refused");
            assert_eq!(clusters.add("launching", &format!("task {n}"), &message).1, n + 1);
        }
        clusters.add("working", "x", "cannot create agent `t-1`: connection to 10.0.0.1:22 refused");
        clusters.add("launching", "y", "no space left on device");
        let found = clusters.clusters();
        let counts: Vec<usize> = found.iter().map(|cluster| cluster.members.len()).collect();
        assert_eq!(counts, [40, 1, 1]);
        assert_eq!(found[0].template, "cannot create agent `t-<n>`: connection to <ip> refused");
        assert!(found[0].varies && found[0].example.contains("10.0.0.0:22"));
        assert_eq!(found[1].stage, "working");
    }

    #[test]
    fn equal_messages_do_not_vary_whatever_is_masked_in_them() {
        let mut clusters = Clusters::new();
        for name in ["a", "b"] {
            clusters.add("launching", name, "0 agents were launched, 0 are allowed");
        }
        assert!(!clusters.clusters()[0].varies);
    }

    #[test]
    fn words_that_differ_are_left_open() {
        let mut clusters = Clusters::new();
        for name in ["alpha", "beta", "gamma"] {
            clusters.add("verified", name, &format!("undefined name {name} in module setup code"));
        }
        let found = clusters.clusters();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].template, "undefined name <*> in module setup code");
        assert_eq!(found[0].members, ["alpha", "beta", "gamma"]);
    }

    #[test]
    fn messages_with_little_in_common_are_different_causes() {
        let mut clusters = Clusters::new();
        clusters.add("working", "a", "the model refused: rate limit reached");
        clusters.add("working", "b", "the model answered: login has expired");
        clusters.add("working", "c", "");
        assert_eq!(clusters.clusters().len(), 3);
    }
}
