//! The server asked over real connections, by a client that knows no more of HTTP than the tests need.

use std::io::{Read, Write};

use super::*;

/// The whole answer to a request after which the connection is closed from our side.
fn ask(server: &ModelServer, method: &str, path: &str, body: &Value) -> String {
    let mut connection = TcpStream::connect(server.address).unwrap();
    send(&mut connection, method, path, body);
    connection.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}

fn send(connection: &mut TcpStream, method: &str, path: &str, body: &Value) {
    let body = body.to_string();
    write!(connection, "{method} {path} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
}

fn message(text: &str) -> Value {
    json!({"stream": true, "tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": text}]})
}

#[test]
fn a_message_is_answered_as_a_stream_and_recorded() {
    let server = ModelServer::start();
    let answer = ask(&server, "POST", "/v1/messages?beta=true", &message("hello there"));
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("transfer-encoding: chunked"), "{answer}");
    assert!(answer.ends_with("\r\n0\r\n\r\n"), "{answer}");
    assert!(answer.contains("message_stop"), "{answer}");
    let requests = server.requests();
    assert_eq!((requests[0].path.as_str(), requests[0].method.as_str()), ("/v1/messages?beta=true", "POST"));
    assert_eq!(requests[0].scenario, Some(Scenario::Echo));
    assert_eq!(server.user_texts(), ["hello there"]);
    assert_eq!(requests[0].history(), ["hello there"]);
}

#[test]
fn an_answer_that_is_not_streamed_is_one_object() {
    let server = ModelServer::start();
    let body = json!({"tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": "hi"}]});
    let answer = ask(&server, "POST", "/v1/messages", &body);
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let message: Value = body.parse().unwrap();
    assert_eq!(message["content"][0]["text"], "You said: hi");
}

#[test]
fn a_word_in_the_message_wins_over_the_scenario_of_the_server() {
    let server = ModelServer::start();
    server.set_scenario(Scenario::RateLimited);
    assert!(ask(&server, "POST", "/v1/messages", &message("hi")).starts_with("HTTP/1.1 429 "));
    assert!(ask(&server, "POST", "/v1/messages", &message("[[401]]")).starts_with("HTTP/1.1 401 "));
    assert!(ask(&server, "POST", "/v1/messages", &message("[[echo]]")).starts_with("HTTP/1.1 200 "));
}

#[test]
fn a_rehearsed_conversation_goes_step_by_step_and_then_on_as_any_other() {
    let server = ModelServer::start();
    let command = |command: &str| Scenario::SafeTool { command: command.into() };
    server.rehearse("task one", [command("first step"), command("second step"), Scenario::RateLimited]);
    let mut messages = vec![json!({"role": "user", "content": "this is task one"})];
    let asked = |messages: &[Value]| {
        let body = json!({"tools": [{"name": "Bash"}], "messages": messages});
        ask(&server, "POST", "/v1/messages", &body)
    };
    for step in ["first step", "second step"] {
        assert!(asked(&messages).contains(step));
        messages.push(json!({"role": "assistant", "content": [{"type": "tool_use"}]}));
        messages.push(json!({"role": "user", "content": [{"type": "tool_result", "content": "out"}]}));
    }
    assert!(asked(&messages).starts_with("HTTP/1.1 429 "));
    messages.push(json!({"role": "assistant", "content": "so be it"}));
    messages.push(json!({"role": "user", "content": "and now?"}));
    assert!(asked(&messages).contains("You said: and now?"));
    assert!(asked(&[json!({"role": "user", "content": "this is task two"})]).contains("You said"));
}

#[test]
fn a_dropped_stream_ends_without_its_last_chunk() {
    let server = ModelServer::start();
    let answer = ask(&server, "POST", "/v1/responses", &message("[[drop]]"));
    assert!(answer.contains("response.created"), "{answer}");
    assert!(!answer.ends_with("0\r\n\r\n") && !answer.contains("response.completed"), "{answer}");
}

#[test]
fn slow_words_come_one_by_one() {
    let server = ModelServer::start();
    let began = Instant::now();
    let mut connection = TcpStream::connect(server.address).unwrap();
    send(&mut connection, "POST", "/v1/chat/completions", &message("[[slow 40]]"));
    let mut seen = String::new();
    let mut piece = [0; 4096];
    while !seen.contains("\"content\":\"3 \"") {
        let length = connection.read(&mut piece).unwrap();
        assert_ne!(length, 0, "{seen}");
        seen.push_str(&String::from_utf8_lossy(&piece[..length]));
    }
    assert!(began.elapsed() >= Duration::from_millis(3 * 40));
    assert!(!seen.contains("\"content\":\"9 \""), "{seen}");
}

#[test]
fn a_request_beside_the_conversation_is_answered_but_not_counted() {
    let server = ModelServer::start();
    let title = json!({"stream": true, "messages": [{"role": "user", "content": "name this: [[429]]"}]});
    assert!(ask(&server, "POST", "/v1/messages", &title).starts_with("HTTP/1.1 200 "));
    assert!(ask(&server, "GET", "/v1/models?x=y", &Value::Null).contains("\"data\":[]"));
    assert!(ask(&server, "POST", "/v1/messages/count_tokens", &Value::Null).contains("input_tokens"));
    assert!(ask(&server, "POST", "/unheard/of", &Value::Null).starts_with("HTTP/1.1 404 "));
    assert!(ask(&server, "HEAD", "/", &Value::Null).ends_with("\r\n\r\n"));
    assert_eq!(server.user_texts(), [""; 0]);
    assert_eq!(server.requests().len(), 5);
}

#[test]
fn one_connection_serves_many_requests() {
    let server = ModelServer::start();
    let mut connection = TcpStream::connect(server.address).unwrap();
    for text in ["[[echo]] one", "[[429]] two", "[[echo]] three"] {
        send(&mut connection, "POST", "/v1/messages", &message(text));
    }
    assert!(server.wait_for_user_text("three", Duration::from_secs(5)), "{:?}", server.user_texts());
    assert_eq!(server.user_texts().len(), 3);
}

#[test]
fn dropping_the_server_ends_an_answer_that_would_take_minutes() {
    let server = ModelServer::start();
    let mut connection = TcpStream::connect(server.address).unwrap();
    send(&mut connection, "POST", "/v1/messages", &message("[[slow 60000]]"));
    assert!(server.wait_for_user_text("slow", Duration::from_secs(5)));
    let began = Instant::now();
    drop(server);
    assert!(began.elapsed() < Duration::from_secs(5));
    let mut rest = Vec::new();
    // Either an orderly end or a reset: what matters is that it does not wait.
    let _ = connection.read_to_end(&mut rest);
    assert!(!String::from_utf8_lossy(&rest).contains("message_stop"));
}
