//! Characters that programs treat in ways of their own, and what of a text arrives at the model.

use mngr_testkit::model::Brand;
use unicode_normalization::UnicodeNormalization;

/// A piece of every class.
const PIECES: [&str; 35] = [
    // Letters with their accents apart, Korean syllables in parts, signs that Unicode has twice.
    "cafe\u{301}",
    "nai\u{308}ve a\u{323}\u{307}",
    "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}",
    "\u{212b}\u{2126}\u{f900}",
    // What nobody sees: of no width, for the direction of writing, for joining and for breaking words.
    "ze\u{200b}ro\u{200c}wi\u{200d}dth",
    "left\u{200e}right\u{200f}marks",
    "em\u{202a}bed\u{202c}ded",
    "over\u{202e}ride\u{202c}",
    "iso\u{2066}la\u{2067}t\u{2068}ed\u{2069}",
    "join\u{2060}er",
    "in\u{2061}vi\u{2062}si\u{2063}b\u{2064}le",
    "soft\u{ad}hyphen",
    "order\u{feff}mark",
    "mon\u{180e}gol\u{180b}ian",
    "graph\u{34f}eme",
    "lone\u{fe0f}selector",
    "tags\u{e0041}\u{e0042}\u{e007f}",
    "variant\u{e0100}",
    "filler\u{3164}\u{115f}s",
    "ara\u{61c}bic",
    // Other scripts, and spaces that are none.
    "שלום עולם",
    "مرحبا",
    "漢字かな",
    "𝒳𠮷",
    "no\u{a0}break\u{3000}wide\u{2009}thin",
    "private\u{e000}use",
    // Signs made of several characters: joined, with a skin tone, flags, keycaps, a selector that makes them wide.
    "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}",
    "\u{1f44d}\u{1f3fd} \u{1f469}\u{1f3fe}\u{200d}\u{1f4bb}",
    "\u{1f1e9}\u{1f1ea}\u{1f1eb}\u{1f1f7} 1\u{fe0f}\u{20e3}",
    "\u{2764}\u{fe0f} \u{263a}\u{fe0f} \u{1f3f3}\u{fe0f}\u{200d}\u{1f308}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    // Scripts whose vowels stand around their letters.
    "\u{928}\u{92e}\u{938}\u{94d}\u{924}\u{947} \u{915}\u{94d}\u{937}\u{93f}",
    "\u{e01}\u{e33}\u{e19}\u{e35}\u{e49} \u{bb5}\u{ba3}\u{b95}\u{bcd}",
    // What other programs act on.
    "$(id) `id` #{x} %s \\n ~ * ? [a]",
    "<b>tag</b> & &amp; \"quoted\" 'so'",
];

/// How many pieces a mixture has: the first seven hold every one.
const MIXED: usize = 5;

/// A text that begins with this word and holds pieces of several classes, others for every number.
pub(super) fn mixture(beginning: &str, number: usize) -> String {
    let stride = 1 + number * MIXED / PIECES.len();
    let mut text = beginning.to_owned();
    for n in 0..MIXED {
        text.push_str([" ", "", "\n", " word ", "\t"][(number + n) % 5]);
        text.push_str(PIECES[(number * MIXED + n * stride) % PIECES.len()]);
    }
    text + " end"
}

/// The text without emoji, flags, and scripts whose vowels stand around their letters.
pub(super) fn narrow(text: &str) -> String {
    let is_wide = |c: char| matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{900}'..='\u{eff}' | '\u{20e3}' | '\u{2764}' | '\u{263a}' | '\u{e0062}'..='\u{e006e}');
    text.chars().filter(|c| !is_wide(*c)).collect()
}

/// What a text has in common with what arrives of it. Codex and opencode keep every character. Claude Code drops what
/// nobody sees and puts letters and accents together, not everywhere in the same way.
pub(super) fn in_common(brand: Brand, text: &str) -> String {
    let text: String = match brand {
        Brand::Claude => plain(text),
        Brand::Codex | Brand::Opencode => text.to_owned(),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text with its letters and accents put together, without what nobody sees.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !is_dropped(*c)).nfc().collect()
}

/// What Claude Code 2.1.325 was seen to drop, somewhere at least.
fn is_dropped(c: char) -> bool {
    let ranges = [
        0xad..=0xad,
        0x34f..=0x34f,
        0x61c..=0x61c,
        0x115f..=0x1160,
        0x180b..=0x180f,
        0x200b..=0x200f,
        0x202a..=0x202e,
        0x2060..=0x206f,
        0x3164..=0x3164,
        0xfe00..=0xfe0f,
        0xfeff..=0xfeff,
        0xe0000..=0xe0fff,
    ];
    ranges.iter().any(|range| range.contains(&u32::from(c)))
}
