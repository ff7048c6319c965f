//! A network link to a namespace of its own, which can be cut and mended. Needs root and iproute2.
//!
//! The link is a pair of virtual cards. It goes away with the last process of the namespace.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::or_fail::OrFail;
use crate::wait_until;

/// How long the system may take to make or remove a card.
const LIMIT: Duration = Duration::from_secs(20);

/// A link whose far end is in another network namespace.
#[derive(Debug)]
pub(crate) struct Link {
    /// Tells this link from those of other tests: a card's name has room for little more.
    number: u16,
}

impl Link {
    /// A link that nobody else uses. It is not there before [`lay`](Self::lay).
    pub(crate) fn new() -> Self {
        // The last bits of a process number are as good as random, and differ between tests that run at once.
        let first = std::process::id() as u16;
        let is_free = |number: &u16| !fs::exists(format!("/sys/class/net/mn{number}")).unwrap_or(true);
        let number = (0..u16::MAX).map(|step| first.wrapping_add(step) & 0x3fff).find(is_free);
        Self { number: number.unwrap_or_default() }
    }

    /// The address of the far end.
    pub(crate) fn address(&self) -> Ipv4Addr {
        self.end(2)
    }

    /// What a shell in the namespace runs to make the far end usable once it is there.
    pub(crate) fn far_script(&self) -> String {
        let (card, address) = (self.far_card(), self.address());
        format!(
            "ip link set lo up; until ip link set {card} up 2>/dev/null; do sleep 0.01; done; \
             ip addr add {address}/30 dev {card}"
        )
    }

    /// Lays the link into the network namespace of a process that has just been started with one.
    #[track_caller]
    pub(crate) fn lay(&self, process: u32) {
        let namespace = |of: &str| fs::read_link(format!("/proc/{of}/ns/net")).ok();
        let has_own = || namespace(&process.to_string()).is_some_and(|its| Some(its) != namespace("self"));
        assert!(wait_until(LIMIT, has_own), "process {process} has no network of its own");
        let near = format!("mn{}", self.number);
        let pair = ["link", "add", &near, "type", "veth", "peer", "name", &self.far_card(), "netns"];
        let process = process.to_string();
        // A link of the same name may be on its way out.
        let is_laid = || is_done(Command::new("ip").args(pair).arg(&process));
        assert!(wait_until(LIMIT, is_laid), "the link `{near}` cannot be made");
        run(Command::new("ip").args(["addr", "add", &format!("{}/30", self.end(1)), "dev", &near]));
        run(Command::new("ip").args(["link", "set", &near, "up"]));
    }

    /// Makes the far end usable where no script does it.
    #[track_caller]
    pub(crate) fn set_up_far_end(&self, process: u32) {
        run(&mut in_network_of(process, &["sh", "-c", &self.far_script()]));
    }

    /// Passes connections to a new port of the near end on to a port of this machine's loopback, for as long as this
    /// process lives. The new port.
    #[track_caller]
    pub(crate) fn pass_on(&self, to: u16) -> SocketAddr {
        let listener = TcpListener::bind((self.end(1), 0)).or_fail("listening at the near end");
        let address = listener.local_addr().or_fail("listening at the near end");
        thread::spawn(move || {
            for coming in listener.incoming().flatten() {
                let Ok(going) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)) else { continue };
                let (Ok(from), Ok(back)) = (coming.try_clone(), going.try_clone()) else { continue };
                thread::spawn(move || copy_all(from, going));
                thread::spawn(move || copy_all(back, coming));
            }
        });
        address
    }

    /// Takes the far end down: what is sent gets lost without a word.
    #[track_caller]
    pub(crate) fn cut(&self, process: u32) {
        self.set_far_end(process, "down");
    }

    /// Takes the far end up again.
    #[track_caller]
    pub(crate) fn mend(&self, process: u32) {
        self.set_far_end(process, "up");
    }

    /// Lets the far end send no more than half a megabyte a second.
    #[track_caller]
    pub(crate) fn slow(&self, process: u32) {
        let mut shape =
            in_network_of(process, &["tc", "qdisc", "add", "dev", &self.far_card(), "root", "tbf"]);
        run(shape.args(["rate", "4mbit", "burst", "20k", "latency", "500ms"]));
    }

    /// Lets the far end send as fast as it can.
    #[track_caller]
    pub(crate) fn fast(&self, process: u32) {
        run(&mut in_network_of(process, &["tc", "qdisc", "del", "dev", &self.far_card(), "root"]));
    }

    /// How much has come from the far end.
    pub(crate) fn bytes_received(&self) -> u64 {
        let count = fs::read_to_string(format!("/sys/class/net/mn{}/statistics/rx_bytes", self.number));
        count.ok().and_then(|count| count.trim().parse().ok()).unwrap_or_default()
    }

    #[track_caller]
    fn set_far_end(&self, process: u32, state: &str) {
        run(&mut in_network_of(process, &["ip", "link", "set", &self.far_card(), state]));
    }

    fn far_card(&self) -> String {
        format!("mf{}", self.number)
    }

    /// Four addresses for each link; the two in the middle can be used.
    fn end(&self, which: u16) -> Ipv4Addr {
        let [high, low] = (self.number * 4 + which).to_be_bytes();
        Ipv4Addr::new(10, 213, high, low)
    }
}

/// The end of one direction is told to the other side; the other direction may go on.
fn copy_all(mut from: TcpStream, mut to: TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

fn in_network_of(process: u32, words: &[&str]) -> Command {
    let mut command = Command::new("nsenter");
    command.args(["--net", "--target", &process.to_string(), "--"]).args(words);
    command
}

fn is_done(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

#[track_caller]
fn run(command: &mut Command) {
    let output = command.output().or_fail("running ip");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
