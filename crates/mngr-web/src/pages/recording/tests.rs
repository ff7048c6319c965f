//! Recordings as pieces.

use mngr_host::local::LocalFiles;
use serde_json::Value;

use super::*;
use crate::pages::piece::tests::value;
use crate::testing::Artifacts;

fn pieces(cast: &str) -> Vec<Value> {
    let dir = Artifacts::new();
    dir.put("run/t/transcript.txt", "");
    dir.put("run/t/a.cast", cast);
    let mut pieces: Vec<Piece> = Vec::new();
    recording(&LocalFiles, &dir.test(), 0, &mut pieces).unwrap();
    pieces.iter().map(value).collect()
}

#[test]
fn chunks_come_with_a_map_that_knows_when_it_all_began() {
    let pieces = pieces(concat!(
        "{\"version\":2,\"width\":10,\"height\":2,\"mngr\":{\"started_ms\":5000}}\n",
        "[0.5,\"o\",\"one\"]\n[40,\"m\",\"here\"]\n[50,\"o\",\"two\"]\n[90,\"o\",\"three\"]\n",
    ));
    let map = pieces.last().unwrap();
    assert_eq!((&map["started_ms"], &map["duration_ms"]), (&json!(5000), &json!(90_000)));
    assert_eq!(map["markers"], json!([[40_000, "here"]]));
    assert_eq!(map["starts"].as_array().unwrap().len(), pieces.len() - 1);
    assert!(pieces.len() > 2, "{pieces:?}");
}

#[test]
fn what_is_no_recording_says_so_and_what_breaks_off_is_shown_so_far() {
    assert!(pieces("nonsense").last().unwrap()["problem"].as_str().unwrap().contains("no recording"));
    let broken = pieces(
        "{\"version\":2,\"width\":10,\"height\":2}\n[0,\"o\",\"one\"]\n[1,\"o\",\"two\"]\nnonsense\n[2,\"o\",\"x\"]\n",
    );
    assert!(broken.last().unwrap()["problem"].as_str().unwrap().contains("line 4"), "{broken:?}");
    assert_eq!(broken[0]["frames"][1]["l"], json!([[0, ["onetwo"]]]));
}
