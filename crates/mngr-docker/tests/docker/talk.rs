//! What runs in a container, seen from outside.

use std::io::{self, Cursor};
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use mngr_docker::{EngineClient, Pipe, PipeTerminal};
use mngr_host::files::{Access, Durability};
use mngr_host::host::WatchRequest;
use mngr_host::lock::LockWait;
use mngr_host::proc::{Cmd, Exit};
use mngr_host::pty::TerminalSize;
use mngr_model::HostPath;
use mngr_model::facts::Detail;
use mngr_testkit::wait_until;

use crate::world::{World, new_host, sh};

fn engine(world: &World) -> Arc<EngineClient> {
    let endpoint = world.engine.endpoint().parse().unwrap();
    Arc::new(EngineClient::open(&endpoint, &HostPath::new("/nowhere")).unwrap())
}

#[test]
fn docker_a_command_there_has_its_input_outputs_and_code() {
    let world = World::new();
    let host = world.host("box");
    let output = host.exec(&Cmd::shell("cat; echo oops >&2; exit 7").stdin("text\0\u{1}end")).unwrap();
    assert_eq!(output.exit, Exit::Code(7));
    assert_eq!(
        (output.stdout_text(), output.stderr_text()),
        ("text\0\u{1}end".to_owned(), "oops".to_owned())
    );
    assert_eq!(sh(&*host, "echo $HOME"), "/root");
    assert_eq!(host.info().home, Some(HostPath::new("/root")));
}

#[test]
fn docker_megabytes_pass_through_the_line_unchanged_in_both_directions() {
    let world = World::new();
    world.host("box");
    let bytes: Vec<u8> = (0..5_000_000_u32).map(|n| (n % 251) as u8).collect();
    let pipe = Pipe::start(engine(&world), "mngr-box", "cat; echo done >&2", PipeTerminal::None).unwrap();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    assert_eq!(pipe.run(Cursor::new(bytes.clone()), &mut out, &mut err).unwrap(), 0);
    assert!(out == bytes, "{} bytes came back", out.len());
    assert_eq!(err, b"done\n");
}

#[test]
fn docker_files_and_the_state_of_agents_are_read_there() {
    let world = World::new();
    let host = world.host("box");
    let file = host.info().host_dir.join("notes");
    host.files().write(&file, b"text", Access::Private, Durability::Synced).unwrap();
    assert_eq!(host.files().read(&file).unwrap(), b"text");
    assert_eq!(sh(&*host, "stat -c %a /mngr/notes"), "600");
    assert_eq!(host.survey(Detail::Full).unwrap().agents.len(), 0);
    assert_eq!(sh(&*host, "cat /mngr/host_id"), host.info().id.as_str());
}

#[test]
fn docker_a_terminal_there_has_our_size_and_shows_text_before_the_line_ends() {
    let world = World::new();
    world.host("box");
    let (send, sizes) = mpsc::channel();
    send.send(TerminalSize { cols: 97, rows: 31 }).unwrap();
    let terminal = PipeTerminal::Like { term: "screen".to_owned(), sizes };
    let line = "until stty size | grep -q '31 97'; do sleep 0.05; done; printf \"$TERM ask> \"; read -r x; echo got $x";
    let pipe = Pipe::start(engine(&world), "mngr-box", line, terminal).unwrap();
    let (mut user, screen) = (Vec::new(), Screen::default());
    let typed = screen.clone();
    // The answer is typed only when the question is on the screen, which has no newline after it.
    let code = pipe.run(
        TypeAfter { screen: typed, prompt: "ask> ", text: Some("it\r") },
        &mut screen.clone(),
        &mut user,
    );
    assert_eq!(code.unwrap(), 0);
    assert!(screen.text().contains("screen ask> "), "{}", screen.text());
    assert!(screen.text().contains("got it"), "{}", screen.text());
}

#[test]
fn docker_a_program_whose_terminal_goes_away_is_hung_up() {
    let world = World::new();
    let host = world.host("box");
    let (send, sizes) = mpsc::channel();
    send.send(TerminalSize { cols: 80, rows: 24 }).unwrap();
    let terminal = PipeTerminal::Like { term: "xterm".to_owned(), sizes };
    let pipe = Pipe::start(engine(&world), "mngr-box", "exec sleep 4321", terminal).unwrap();
    let lives = || sh(&*host, "ps -eo args= | grep -c '^sleep 4321' || true") == "1";
    assert!(wait_until(Duration::from_secs(10), lives));
    pipe.hang_up()().unwrap();
    assert!(wait_until(Duration::from_secs(10), || !lives()), "it is still there");
    assert_eq!(pipe.run(io::empty(), &mut io::sink(), &mut io::sink()).unwrap(), 129);
}

#[test]
fn docker_a_lock_and_a_watch_that_are_over_hold_nothing_up_and_do_not_go_on() {
    let world = World::new();
    let host = world.host("box");
    let dir = host.info().host_dir.clone();
    let folders = vec![dir.clone()];
    let watch = host.watch(&WatchRequest { folders, processes: Vec::new() }).unwrap();
    drop(host.lock(&dir.join("lock"), LockWait::Try).unwrap());
    drop(watch);
    // The engine waits for the last holder of an exec's output, and everybody else waits for the engine.
    let started = Instant::now();
    world.engine.docker(&["exec", "mngr-box", "true"]);
    assert!(started.elapsed() < Duration::from_secs(5), "it took {:?}", started.elapsed());
    let loops =
        || world.engine.docker(&["exec", "mngr-box", "ps", "-eo", "args="]).matches("newline=").count();
    // One shell stays open for the next command, and one for the next lock, with what sends its signs of life.
    assert!(wait_until(Duration::from_secs(15), || loops() <= 3), "{} shells are left", loops());
}

#[test]
fn docker_a_host_without_network_sees_only_itself() {
    let world = World::new();
    let mut new = new_host("box");
    new.build_args = vec!["offline".to_owned()];
    let host = world.maker().make(&new).unwrap();
    assert_eq!(sh(&*host, "ls /sys/class/net"), "lo");
    let usual = world.host("other");
    assert!(sh(&*usual, "ls /sys/class/net").contains("eth0"));
}

#[test]
fn docker_an_engine_behind_a_port_is_spoken_to_in_the_same_way() {
    let world = World::new();
    world.host("box");
    let address = port_to(world.engine.socket());
    let endpoint = format!("tcp://{address}").parse().unwrap();
    let engine = Arc::new(EngineClient::open(&endpoint, &HostPath::new("/nowhere")).unwrap());
    let pipe = Pipe::start(engine, "mngr-box", "cat; exit 4", PipeTerminal::None).unwrap();
    let mut out = Vec::new();
    assert_eq!(pipe.run(Cursor::new(b"over tcp"), &mut out, &mut io::sink()).unwrap(), 4);
    assert_eq!(out, b"over tcp");
}

/// A port of this machine that leads to a socket.
fn port_to(socket: PathBuf) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            let (client, engine) = (client.unwrap(), UnixStream::connect(&socket).unwrap());
            let (mut from, mut to) = (client.try_clone().unwrap(), engine.try_clone().unwrap());
            thread::spawn(move || {
                let _ = io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
            let (mut from, mut to) = (engine, client);
            thread::spawn(move || {
                let _ = io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
        }
    });
    address
}

/// What a terminal shows, for two threads.
#[derive(Clone, Default)]
struct Screen(Arc<std::sync::Mutex<Vec<u8>>>);

impl Screen {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl io::Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A user who types once a prompt is there.
struct TypeAfter {
    screen: Screen,
    prompt: &'static str,
    text: Option<&'static str>,
}

impl io::Read for TypeAfter {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(text) = self.text.take() else {
            thread::park();
            return Ok(0);
        };
        let is_asked = || self.screen.text().contains(self.prompt);
        assert!(wait_until(Duration::from_secs(20), is_asked), "{}", self.screen.text());
        buffer[..text.len()].copy_from_slice(text.as_bytes());
        Ok(text.len())
    }
}
