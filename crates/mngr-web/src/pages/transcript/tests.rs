//! Transcripts as rows.

use mngr_host::local::LocalFiles;
use serde_json::{Value, json};

use super::*;
use crate::pages::piece::Piece;
use crate::pages::piece::tests::value;
use crate::testing::Artifacts;

fn pieces(name: &str, text: &str) -> Vec<Piece> {
    let dir = Artifacts::new();
    dir.put(&format!("run/t/{name}"), text);
    let mut pieces = Vec::new();
    transcript(&LocalFiles, &dir.test(), &mut pieces).unwrap();
    pieces
}

fn rows(name: &str, text: &str) -> Vec<Value> {
    let pieces = pieces(name, text);
    let rows = pieces.iter().map(value).filter_map(|piece| piece["rows"].as_array().cloned());
    rows.flatten().collect()
}

#[test]
fn every_kind_of_line_becomes_a_row_with_its_time() {
    let lines = concat!(
        r#"{"kind":"command","id":1,"time":1000,"command":"ls \\\n -l","comment":"look","cwd":"/","recording":"a.cast"}"#,
        "\n",
        r#"{"kind":"output","id":1,"time":1010,"stream":"stdout","text":"\u001b[31mre"}"#,
        "\n",
        r#"{"kind":"output","id":1,"time":1020,"stream":"stderr","text":"bad\n"}"#,
        "\n",
        r#"{"kind":"output","id":1,"time":1030,"stream":"stdout","text":"d\nplain?\u001b[0m no\n"}"#,
        "\n",
        r#"{"kind":"end","id":1,"time":1040,"exit_code":2,"duration_ms":40}"#,
        "\n",
        r#"{"kind":"comm"#,
    );
    assert_eq!(
        json!(rows("transcript.jsonl", lines)).to_string(),
        concat!(
            r##"[["#",1,0,["look"]],["$",1,0,["ls \\"]],[">",1,0,[" -l"]],["!",1,20,["bad"]],"##,
            r##"[" ",1,10,[["red",1,-1,0]]],[" ",1,30,[["plain?",1,-1,0]," no"]],["?",1,40,["2"]]]"##,
        )
    );
    let pieces = pieces("transcript.jsonl", lines);
    let map = value(pieces.last().unwrap());
    assert_eq!(map["commands"], json!([{"row": 1, "id": 1, "recording": "a.cast", "exit": 2, "ms": 40}]));
    assert_eq!((&map["count"], &map["base"]), (&json!(7), &json!(1000)));
}

#[test]
fn commands_at_the_same_time_say_whose_lines_follow() {
    let lines = concat!(
        r#"{"kind":"command","id":1,"time":0,"command":"a","cwd":"/"}"#,
        "\n",
        r#"{"kind":"command","id":2,"time":0,"command":"b","cwd":"/"}"#,
        "\n",
        r#"{"kind":"output","id":2,"time":0,"stream":"stdout","text":"of b\n"}"#,
        "\n",
        r#"{"kind":"output","id":1,"time":0,"stream":"stdout","text":"of a\n"}"#,
        "\n",
    );
    let texts: Vec<String> =
        rows("transcript.jsonl", lines).iter().map(|row| row[3][0].as_str().unwrap().to_owned()).collect();
    assert_eq!(texts, ["a", "b", "of b", "a (goes on)", "of a"]);
}

#[test]
fn a_large_transcript_is_many_pieces_that_the_map_knows() {
    let text: String = (0..20_000).map(|number| format!("  line {number}\n")).collect();
    let pieces = pieces("transcript.txt", &format!("$ seq\n{text}"));
    let map = value(pieces.last().unwrap());
    let firsts = map["firsts"].as_array().unwrap();
    assert!(firsts.len() > 3 && firsts.len() == pieces.len() - 1, "{firsts:?}");
    assert_eq!(map["count"], 20_001);
    for (piece, first) in pieces.iter().zip(firsts) {
        assert!(piece.script.len() < 512 * 1024);
        assert_eq!(&value(piece)["first"], first);
    }
}

#[test]
fn a_line_without_end_is_cut_into_rows_and_none_is_lost() {
    let rows = rows("transcript.txt", &format!("$ x\n  {}\n", "ä".repeat(5000)));
    let lengths: Vec<usize> = rows.iter().map(|row| row[3][0].as_str().unwrap().chars().count()).collect();
    assert_eq!(lengths, [1, 2000, 2000, 1000]);
}

#[test]
fn nothing_at_all_is_a_first_piece_and_a_map() {
    let pieces = pieces("transcript.jsonl", "");
    assert_eq!(pieces.len(), 2);
    assert_eq!(value(&pieces[1])["count"], 0);
}
