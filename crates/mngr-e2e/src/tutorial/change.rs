//! Which cited text that is gone became which block that nobody cites: an edit, not a loss and a find.

use std::collections::HashMap;

use similar::{Algorithm, TextDiff, capture_diff_slices, diff_ratio};

use super::block::NormalText;

/// Below this two texts are not the same block before and after an edit.
const LIKE: f32 = 0.6;

/// Up to this many pairs all are compared.
const ALL_PAIRS: usize = 10_000;

/// Above that, each old text is compared with this many new ones.
const CANDIDATES: usize = 8;

/// A word in more texts than this tells nothing about which of them is meant.
const COMMON: usize = 200;

/// Letters are compared in texts up to this length; in longer ones a typing error changes little.
const SHORT: usize = 400;

/// An old text and what it became, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pair {
    pub(crate) old: usize,
    pub(crate) new: usize,
    pub(crate) likeness: f32,
}

/// Pairs each old text with at most one new text and each new text with at most one old one, the likest first.
pub(crate) fn pair(old: &[&NormalText], new: &[&NormalText]) -> Vec<Pair> {
    let mut taken = (vec![false; old.len()], vec![false; new.len()]);
    let mut pairs = alike(old, new);
    pairs.retain(|pair| {
        let is_free = !taken.0[pair.old] && !taken.1[pair.new];
        if is_free {
            (taken.0[pair.old], taken.1[pair.new]) = (true, true);
        }
        is_free
    });
    pairs
}

/// For each old text the new one it is likest, however many others are too.
pub(crate) fn nearest(old: &[&NormalText], new: &[&NormalText]) -> Vec<Option<usize>> {
    let mut found = vec![None; old.len()];
    for pair in alike(old, new) {
        found[pair.old].get_or_insert(pair.new);
    }
    found
}

/// What changed, as a unified diff.
pub(crate) fn diff(old: &NormalText, new: &NormalText) -> String {
    let (old, new) = (format!("{}\n", old.as_str()), format!("{}\n", new.as_str()));
    TextDiff::from_lines(&old, &new).unified_diff().context_radius(3).header("cited", "tutorial").to_string()
}

/// All pairs that are like each other, the likest first.
fn alike(old: &[&NormalText], new: &[&NormalText]) -> Vec<Pair> {
    let old_words: Vec<Vec<&str>> = old.iter().map(|text| words(text)).collect();
    let new_words: Vec<Vec<&str>> = new.iter().map(|text| words(text)).collect();
    let index = (old.len() * new.len() > ALL_PAIRS).then(|| Index::new(&new_words));
    let mut pairs = Vec::new();
    for (at, words) in old_words.iter().enumerate() {
        let candidates =
            index.as_ref().map_or_else(|| (0..new.len()).collect(), |index| index.candidates(words));
        for candidate in candidates {
            let letters = (old[at].as_str(), new[candidate].as_str());
            let likeness = likeness((words, &new_words[candidate]), letters);
            if likeness >= LIKE {
                pairs.push(Pair { old: at, new: candidate, likeness });
            }
        }
    }
    pairs.sort_by(|a, b| b.likeness.total_cmp(&a.likeness).then((a.old, a.new).cmp(&(b.old, b.new))));
    pairs
}

fn words(text: &NormalText) -> Vec<&str> {
    text.as_str().split_whitespace().filter(|word| word.chars().any(|c| c != '#')).collect()
}

fn likeness(words: (&[&str], &[&str]), letters: (&str, &str)) -> f32 {
    let changes = capture_diff_slices(Algorithm::Myers, words.0, words.1);
    let by_words = diff_ratio(&changes, words.0.len(), words.1.len());
    if by_words >= LIKE || letters.0.len().max(letters.1.len()) > SHORT {
        return by_words;
    }
    by_words.max(strsim::normalized_levenshtein(letters.0, letters.1) as f32)
}

/// Texts by their words.
struct Index<'t> {
    texts: HashMap<&'t str, Vec<usize>>,
}

impl<'t> Index<'t> {
    fn new(texts: &[Vec<&'t str>]) -> Self {
        let mut index: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, words) in texts.iter().enumerate() {
            for word in words {
                let holders = index.entry(word).or_default();
                if holders.last() != Some(&number) {
                    holders.push(number);
                }
            }
        }
        Self { texts: index }
    }

    /// The texts that share the rarest words with these.
    fn candidates(&self, words: &[&str]) -> Vec<usize> {
        let mut scores: HashMap<usize, f32> = HashMap::new();
        for holders in words.iter().filter_map(|word| self.texts.get(word)).filter(|it| it.len() <= COMMON) {
            for holder in holders {
                *scores.entry(*holder).or_default() += 1.0 / holders.len() as f32;
            }
        }
        let mut best: Vec<(usize, f32)> = scores.into_iter().collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        best.into_iter().take(CANDIDATES).map(|(number, _)| number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paired(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
        let texts = |texts: &[&str]| texts.iter().map(|text| NormalText::of(text)).collect::<Vec<_>>();
        let (old, new) = (texts(old), texts(new));
        let pairs = pair(&old.iter().collect::<Vec<_>>(), &new.iter().collect::<Vec<_>>());
        pairs.iter().map(|pair| (pair.old, pair.new)).collect()
    }

    #[test]
    fn an_edited_text_finds_what_it_became() {
        assert_eq!(paired(&["mngr lst"], &["mngr destroy x", "mngr list"]), [(0, 1)]);
        let old = "# Create an agent\nmngr create fix";
        assert_eq!(
            paired(&[old], &["# Create an agent of a type\nmngr create fix --type command"]),
            [(0, 0)]
        );
        assert_eq!(paired(&[old], &["# See who is there\nmngr list --running"]), []);
    }

    #[test]
    fn each_text_is_paired_once_and_the_likest_pair_comes_first() {
        let old = ["mngr create a --type command", "mngr create a --type commands"];
        assert_eq!(paired(&old, &["mngr create a --type commands -v"]), [(1, 0)]);
    }

    #[test]
    fn many_texts_are_paired_by_their_rare_words() {
        let old: Vec<String> = (0..300).map(|n| format!("# number n{n}\nmngr create agent-{n}")).collect();
        let new: Vec<String> = old.iter().rev().map(|text| format!("{text} --quiet")).collect();
        let as_str = |texts: &'static [String]| texts.iter().map(String::as_str).collect::<Vec<_>>();
        let (old, new) = (as_str(old.leak()), as_str(new.leak()));
        let mut pairs = paired(&old, &new);
        pairs.sort_unstable();
        assert_eq!(pairs, (0..300).map(|n| (n, 299 - n)).collect::<Vec<_>>());
    }

    #[test]
    fn a_diff_shows_both_texts() {
        let text = diff(&NormalText::of("# a\nb"), &NormalText::of("# a\nc"));
        assert_eq!(text, "--- cited\n+++ tutorial\n@@ -1,2 +1,2 @@\n # a\n-b\n+c\n");
    }
}
