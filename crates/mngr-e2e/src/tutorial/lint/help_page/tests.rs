//! Pages as the common libraries print them.

use super::*;

const CLAP: &str = "\
Does things

Usage: tool [OPTIONS] <COMMAND>

Commands:
  build, b     Build it
  clean-up     Clean up
                 and go on [aliases: gc]
  help         Print this message

Options:
  -v, --verbose...             Say more
      --color[=<WHEN>]         Coloring
      --format <FORMAT>        How [default: human] [possible values: human, json]
  -o, --out <FILE>
          [possible values: a, b]
  -h, --help                   Print help
";

const CLICK: &str = "\
Usage: tool [OPTIONS] COMMAND [ARGS]...

Options:
  -n, --name TEXT          A name.
  --mode [fast|slow]       How fast.
  --shout / --no-shout     Loud.
  --help                   Show this message and exit.

Commands:
  init  Make it.
  sync  Bring it here.
";

const ARGPARSE: &str = "\
usage: tool [-h] [-f FILE] [--level {low,high}] {add,remove} ...

positional arguments:
  {add,remove}
    add                 add one
    remove              remove one

options:
  -h, --help            show this help message and exit
  -f FILE, --file FILE  a file
  --level {low,high}
";

const COBRA: &str = "\
Usage:
  tool [command]

Available Commands:
  apply       Apply it
  get         Get it

Flags:
  -n, --namespace string   where
      --dry-run            not really
";

const GNU: &str = "\
usage: tool [-C <path>] [--bare]
    -q, --[no-]quiet      be quiet
    --block-size=SIZE  scale
    -name string
    \tthe name
";

fn takes(page: &HelpPage, name: &str) -> Option<Takes> {
    page.option(name).map(|option| option.takes)
}

#[test]
fn commands_are_found_with_their_other_names() {
    for (text, expected) in [
        (CLAP, &["b", "build", "clean-up", "help"][..]),
        (CLICK, &["init", "sync"]),
        (ARGPARSE, &["add", "remove"]),
        (COBRA, &["apply", "get"]),
        (GNU, &[]),
        ("CORE COMMANDS\n  auth:  Log in\n  pr:    Pull requests\n", &["auth", "pr"]),
        ("COMMANDS\n  list  Show all (also: ls)\n", &["list", "ls"]),
    ] {
        let page = HelpPage::parse(text);
        assert_eq!(page.commands.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{text}");
    }
}

#[test]
fn options_are_found_with_what_they_take() {
    for (text, name, expected) in [
        (CLAP, "-v", Takes::Nothing),
        (CLAP, "--verbose", Takes::Nothing),
        (CLAP, "--color", Takes::Optional),
        (CLAP, "--format", Takes::Value),
        (CLAP, "-o", Takes::Value),
        (CLICK, "--name", Takes::Value),
        (CLICK, "-n", Takes::Value),
        (CLICK, "--no-shout", Takes::Nothing),
        (CLICK, "--mode", Takes::Value),
        (ARGPARSE, "-f", Takes::Value),
        (ARGPARSE, "--level", Takes::Value),
        (ARGPARSE, "-h", Takes::Nothing),
        (COBRA, "--namespace", Takes::Value),
        (COBRA, "--dry-run", Takes::Nothing),
        (GNU, "--quiet", Takes::Nothing),
        (GNU, "--no-quiet", Takes::Nothing),
        (GNU, "--block-size", Takes::Value),
        (GNU, "-name", Takes::Value),
    ] {
        assert_eq!(takes(&HelpPage::parse(text), name), Some(expected), "{name} of {text}");
    }
    let mentioned = HelpPage::parse(GNU).mentioned;
    assert!(mentioned.contains("--bare") && mentioned.contains("-C"), "{mentioned:?}");
}

#[test]
fn values_that_are_listed_are_the_only_ones() {
    for (text, name, expected) in [
        (CLAP, "--format", ["human", "json"]),
        (CLAP, "-o", ["a", "b"]),
        (CLICK, "--mode", ["fast", "slow"]),
        (ARGPARSE, "--level", ["low", "high"]),
    ] {
        assert_eq!(HelpPage::parse(text).option(name).unwrap().choices, expected, "{name} of {text}");
    }
}
