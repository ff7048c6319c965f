//! The traps in counting Rust without parsing it.

use super::*;

fn functions(text: &str) -> usize {
    measure(text).functions
}

#[test]
fn test_modules_do_not_count() {
    let text = "//! Head.\nfn one() {}\n\n#[cfg(test)]\nmod tests {\n    fn two() { if x { y } }\n}\nfn three() {}\n";
    let measured = measure(text);
    assert_eq!((measured.lines, measured.functions, measured.has_head), (5, 2, true));
}

#[test]
fn a_test_module_in_another_file_hides_nothing_after_it() {
    assert_eq!(functions("#[cfg(test)]\nmod tests;\nfn one() {}\n"), 1);
}

#[test]
fn a_declaration_without_a_body_is_no_logic() {
    assert_eq!(functions("trait T { fn a(&self, x: [u8; 4]) -> u8; }\ntype F = fn(u8) -> u8;\n"), 0);
    assert_eq!(functions("pub fn a<T>(x: [u8; 4]) -> T where T: Copy { loop {} }"), 1);
}

#[test]
fn text_that_looks_like_code_is_not_counted() {
    for text in [
        "// fn a() {}\n",
        "/* fn a() {} /* fn b() {} */ fn c() {} */",
        r#"const A: &str = "fn a() {} \" fn b() {}";"#,
        r##"const A: &str = r#"fn a() {} " fn b() {}"#;"##,
        r##"const A: &[u8] = br#"fn a() {} " fn b() {}"#;"##,
    ] {
        assert_eq!(functions(text), 0, "{text}");
    }
}

#[test]
fn quotes_and_braces_in_character_literals_mislead_nobody() {
    let text = "const A: [char; 4] = ['\"', '{', '\\'', '}'];\n#[cfg(test)]\nmod t { const B: char = '{'; }\nfn a() {}";
    assert_eq!(functions(text), 1);
}

#[test]
fn lifetimes_are_no_character_literals() {
    assert_eq!(functions("fn a<'x>(y: &'x str) -> &'x str { y }\nfn b() {}"), 2);
}

#[test]
fn a_raw_identifier_is_no_raw_string() {
    assert_eq!(functions("const r#type: u8 = 1;\nfn a() {}\nconst B: &str = \"\";"), 1);
}

#[test]
fn the_head_has_to_come_first() {
    assert!(!measure("use std::fs;\n//! Late.\n").has_head);
}
