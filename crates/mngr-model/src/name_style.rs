//! Names made up for agents and hosts that were given none. The caller brings the randomness as a seed and decides what
//! to do when a name is taken: try the next seed, or, as the smaller lists can run out, add a number.

use crate::words::words;

/// One word per line, sorted, lower case.
type WordList = &'static str;

const ANIMALS: WordList = include_str!("words/animals.txt");
const ARTISTS: WordList = include_str!("words/artists.txt");
const ASTRONOMY: WordList = include_str!("words/astronomy.txt");
const AUTHORS: WordList = include_str!("words/authors.txt");
const CITIES: WordList = include_str!("words/cities.txt");
const DEMONS: WordList = include_str!("words/demons.txt");
const MUSICIANS: WordList = include_str!("words/musicians.txt");
const PAINTERS: WordList = include_str!("words/painters.txt");
const PLACES: WordList = include_str!("words/places.txt");
const SCIENTISTS: WordList = include_str!("words/scientists.txt");

const COOLNAME: &[WordList] =
    &[include_str!("words/moods.txt"), include_str!("words/tints.txt"), include_str!("words/creatures.txt")];
const ENGLISH: &[WordList] =
    &[include_str!("words/english_first.txt"), include_str!("words/english_last.txt")];
const FANTASY: &[WordList] =
    &[include_str!("words/fantasy_first.txt"), include_str!("words/fantasy_last.txt")];
const SCIFI: &[WordList] = &[include_str!("words/scifi_first.txt"), include_str!("words/scifi_last.txt")];

words! {
    /// How the name of an agent is made up.
    #[derive(Default)]
    NameStyle {
        /// Three words, such as `brisk-amber-otter`.
        #[default]
        Coolname = "coolname",
        /// English first and last names.
        English = "english",
        /// First and last names of a world with dragons.
        Fantasy = "fantasy",
        /// First and last names of a world with starships.
        Scifi = "scifi",
        /// Painters.
        Painters = "painters",
        /// Writers.
        Authors = "authors",
        /// Sculptors, photographers and other artists.
        Artists = "artists",
        /// Composers and musicians.
        Musicians = "musicians",
        /// Animals.
        Animals = "animals",
        /// Scientists.
        Scientists = "scientists",
        /// Demons of the old grimoires.
        Demons = "demons",
    }
}

impl NameStyle {
    /// The name this style gives for `seed`: always the same one, and always a valid name.
    pub fn generate(self, seed: u64) -> String {
        slug(self.lists(), seed)
    }

    /// One word of each list makes a name.
    const fn lists(self) -> &'static [WordList] {
        match self {
            Self::Coolname => COOLNAME,
            Self::English => ENGLISH,
            Self::Fantasy => FANTASY,
            Self::Scifi => SCIFI,
            Self::Painters => &[PAINTERS],
            Self::Authors => &[AUTHORS],
            Self::Artists => &[ARTISTS],
            Self::Musicians => &[MUSICIANS],
            Self::Animals => &[ANIMALS],
            Self::Scientists => &[SCIENTISTS],
            Self::Demons => &[DEMONS],
        }
    }
}

words! {
    /// How the name of a host is made up.
    #[derive(Default)]
    HostNameStyle {
        /// Three words, such as `brisk-amber-otter`.
        #[default]
        Coolname = "coolname",
        /// Stars, moons and constellations.
        Astronomy = "astronomy",
        /// Landscapes and regions.
        Places = "places",
        /// Cities.
        Cities = "cities",
        /// First and last names of a world with dragons.
        Fantasy = "fantasy",
        /// First and last names of a world with starships.
        Scifi = "scifi",
        /// Painters.
        Painters = "painters",
        /// Writers.
        Authors = "authors",
        /// Sculptors, photographers and other artists.
        Artists = "artists",
        /// Composers and musicians.
        Musicians = "musicians",
        /// Scientists.
        Scientists = "scientists",
    }
}

impl HostNameStyle {
    /// The name this style gives for `seed`: always the same one, and always a valid name.
    pub fn generate(self, seed: u64) -> String {
        slug(self.lists(), seed)
    }

    /// One word of each list makes a name.
    const fn lists(self) -> &'static [WordList] {
        match self {
            Self::Coolname => COOLNAME,
            Self::Astronomy => &[ASTRONOMY],
            Self::Places => &[PLACES],
            Self::Cities => &[CITIES],
            Self::Fantasy => FANTASY,
            Self::Scifi => SCIFI,
            Self::Painters => &[PAINTERS],
            Self::Authors => &[AUTHORS],
            Self::Artists => &[ARTISTS],
            Self::Musicians => &[MUSICIANS],
            Self::Scientists => &[SCIENTISTS],
        }
    }
}

/// One word of each list, joined by `-`.
fn slug(lists: &[WordList], seed: u64) -> String {
    let mut state = seed;
    let words = lists.iter().map(|list| {
        let count = list.lines().count() as u64;
        let index = next_random(&mut state).checked_rem(count).unwrap_or_default();
        list.lines().nth(index as usize).unwrap_or_default()
    });
    words.collect::<Vec<_>>().join("-")
}

/// SplitMix64: neighbouring seeds give unrelated names, so a caller may simply count up.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::name::{AgentName, HostName};

    fn all_lists() -> impl Iterator<Item = (&'static str, &'static [WordList])> {
        let agents = NameStyle::ALL.iter().map(|style| (style.as_str(), style.lists()));
        agents.chain(HostNameStyle::ALL.iter().map(|style| (style.as_str(), style.lists())))
    }

    #[test]
    fn the_longest_name_of_every_style_is_valid_for_agent_and_host() {
        for (style, lists) in all_lists() {
            let longest = lists.iter().map(|list| list.lines().max_by_key(|word| word.len()).unwrap());
            let name = longest.collect::<Vec<_>>().join("-");
            assert!(name.parse::<HostName>().is_ok(), "{style}: {name}");
        }
    }

    #[test]
    fn every_word_is_a_plain_lower_case_name_and_stands_once_in_its_list() {
        for (style, lists) in all_lists() {
            for list in lists {
                let mut seen = HashSet::new();
                for word in list.lines() {
                    assert!(word.parse::<AgentName>().is_ok(), "{style}: `{word}`");
                    assert_eq!(word, word.to_ascii_lowercase(), "{style}");
                    assert!(seen.insert(word), "{style}: `{word}` twice");
                }
                assert!(seen.len() >= if style == "coolname" { 60 } else { 30 }, "{style} has too few words");
            }
        }
    }

    #[test]
    fn a_seed_always_gives_the_same_name() {
        let name = NameStyle::Coolname.generate(7);
        assert_eq!(name, NameStyle::Coolname.generate(7));
        assert_eq!(name, HostNameStyle::Coolname.generate(7));
        assert_eq!(name.split('-').count(), 3, "{name}");
    }

    #[test]
    fn counting_up_from_one_seed_spreads_over_the_lists() {
        let cool: HashSet<_> = (0..1_000).map(|seed| NameStyle::Coolname.generate(seed)).collect();
        assert!(cool.len() > 990, "{} of 1000 differ", cool.len());
        let demons: HashSet<_> = (0..1_000).map(|seed| NameStyle::Demons.generate(seed)).collect();
        assert_eq!(demons.len(), DEMONS.lines().count(), "every word is reached");
    }

    #[test]
    fn styles_read_as_they_are_written() {
        for style in NameStyle::ALL {
            assert_eq!(style.to_string().parse(), Ok(*style));
            assert_eq!(serde_json::to_string(style).unwrap(), format!("\"{style}\""));
        }
        for style in HostNameStyle::ALL {
            assert_eq!(style.to_string().parse(), Ok(*style));
        }
    }

    #[test]
    fn an_unknown_style_lists_the_known_ones() {
        let error = "cities".parse::<NameStyle>().unwrap_err().to_string();
        assert_eq!(
            error,
            "`cities` is not one of coolname, english, fantasy, scifi, painters, authors, artists, musicians, \
             animals, scientists, demons"
        );
        assert!("demons".parse::<HostNameStyle>().is_err());
    }
}
