//! The user's login, which every agent shares: a program that renews it renews it for everybody.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread;

use mngr_testkit::model::Brand;

use super::scene::{NAME, Scene};
use crate::support::*;

/// Tokens of nobody that say only when they expire: long ago, and in a long time.
const OLD: &str = "eyJhbGciOiJub25lIn0.eyJleHAiOjE2MDAwMDAwMDAsImh0dHBzOi8vYXBpLm9wZW5haS5jb20vYXV0aCI6eyJjaGF0Z3B0X2FjY291bnRfaWQiOiJhIiwiY2hhdGdwdF9wbGFuX3R5cGUiOiJwcm8ifX0.c2ln";
const NEW: &str = "eyJhbGciOiJub25lIn0.eyJleHAiOjQwMDAwMDAwMDAsImh0dHBzOi8vYXBpLm9wZW5haS5jb20vYXV0aCI6eyJjaGF0Z3B0X2FjY291bnRfaWQiOiJhIiwiY2hhdGdwdF9wbGFuX3R5cGUiOiJwcm8ifX0.c2ln";

/// A vendor on loopback that renews one login; returns its address.
fn renewer() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = BufReader::new(stream.try_clone().unwrap());
        let mut length = 0;
        loop {
            let mut line = String::new();
            request.read_line(&mut line).unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        request.read_exact(&mut vec![0; length]).unwrap();
        let body = serde_json::json!({ "id_token": NEW, "access_token": NEW, "refresh_token": "renewed" })
            .to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).unwrap();
    });
    format!("http://{address}/oauth/token")
}

#[test]
fn a_login_that_codex_renews_in_an_agents_environment_is_renewed_for_the_user() {
    let mut scene = Scene::of(Brand::Codex);
    scene.env.set_var("CODEX_REFRESH_TOKEN_URL_OVERRIDE", renewer());
    let _ = scene.create(&[]).success();
    // The user logs in after the agent was made.
    let login = serde_json::json!({
        "OPENAI_API_KEY": null,
        "tokens": { "id_token": OLD, "access_token": OLD, "refresh_token": "old", "account_id": "a" },
        "last_refresh": "2020-01-01T00:00:00Z",
    });
    let theirs = scene.env.home().join(".codex/auth.json");
    fs::write(&theirs, login.to_string()).unwrap();
    let url = scene.model.url();
    let service = format!(
        "model_providers.login={{name='login', base_url='{url}/v1', wire_api='responses', requires_openai_auth=true}}"
    );
    let base = format!("chatgpt_base_url='{url}/backend'");
    let words = ["codex", "exec", "-c", &service, "-c", "model_provider='login'", "-c", &base, "hello"];
    let _ = scene.env.mngr(["exec", NAME, "--"].iter().chain(&words)).success();
    assert!(scene.was_asked("hello"));
    let renewed = fs::read_to_string(&theirs).unwrap();
    assert!(renewed.contains("renewed") && renewed.contains(NEW), "{renewed}");
    assert!(state_dir(&scene.env, NAME).join("plugin/codex/home/auth.json").is_symlink());
}

/// Claude Code renews its login at its vendor's own address only, so this shows where it looks for it, which is also
/// where it writes: the link in the agent's own folder is gone.
#[test]
fn claude_keeps_its_login_where_the_user_has_it() {
    let mut scene = Scene::of(Brand::Claude);
    scene.env.set_var("ANTHROPIC_API_KEY", "");
    // Nothing but the model is to be reached.
    scene.env.set_var("HTTPS_PROXY", "http://127.0.0.1:9");
    scene.env.set_var("NO_PROXY", "127.0.0.1");
    let login = serde_json::json!({ "claudeAiOauth": {
        "accessToken": "sk-ant-oat01-test", "refreshToken": "sk-ant-ort01-test", "expiresAt": 4_000_000_000_000_i64,
        "scopes": ["user:inference", "user:profile"], "subscriptionType": "pro",
    } });
    let theirs = scene.env.home().join(".claude/.credentials.json");
    fs::write(&theirs, login.to_string()).unwrap();
    let _ = scene.create(&[]).success();
    let _ = scene.env.mngr(["stop", NAME]).success();
    fs::remove_file(state_dir(&scene.env, NAME).join("plugin/claude/anthropic/.credentials.json")).unwrap();
    let _ = scene.env.mngr(["start", NAME]).success();
    scene.say("hello");
    scene.wait_until_asked("hello");
    assert!(theirs.exists());
}
