//! What commands print that read and write settings, and what `help` and `completion` print.

use super::lines::Line::{self, Event, Whole};
use super::{Any, Bool, Either, Fields, List, MapOf, Maybe, NAMES, Open, Shape, Text};

/// A settings file; one that cannot be found says why instead.
const FILE: Shape = Open(&[("scope", Text), ("path", Maybe(&Text)), ("exists", Bool)]);
const WRITTEN: Shape = Fields(&[("key", Text), ("value", Any), ("scope", Text), ("path", Text)]);

/// The help of one command.
const PAGE: Shape = Fields(&[
    ("name", Text),
    ("aliases", NAMES),
    ("about", Text),
    ("synopsis", NAMES),
    ("description", NAMES),
    ("commands", List(&Fields(&[("name", Text), ("aliases", NAMES), ("about", Text)]))),
    ("sections", List(&Fields(&[("heading", Text), ("options", List(&MapOf(&Any)))]))),
    ("examples", NAMES),
]);
const TOPIC: Shape = Fields(&[("name", Text), ("aliases", NAMES), ("about", Text), ("text", Text)]);
const VARIABLE: Shape = Fields(&[("name", Text), ("description", Text)]);

/// By the words of the command.
pub(super) const OUTPUTS: &[(&str, Shape)] = &[
    ("completion", Fields(&[("shell", Text), ("script", Text)])),
    (
        "completion install",
        Fields(&[
            ("shell", Text),
            ("path", Text),
            ("changed", Bool),
            ("rc_path", Maybe(&Text)),
            ("rc_line", Maybe(&Text)),
            ("rc_changed", Bool),
            ("loaded", Bool),
        ]),
    ),
    ("config assign", WRITTEN),
    ("config edit", Fields(&[("scope", Text), ("path", Text)])),
    ("config extend", WRITTEN),
    ("config get", Open(&[("key", Text), ("value", Any), ("origin", Maybe(&Text))])),
    (
        "config list",
        Either(&[
            Open(&[("config", MapOf(&Any)), ("origins", MapOf(&Text))]),
            Fields(&[("schema", List(&MapOf(&Any)))]),
        ]),
    ),
    ("config path", Either(&[Fields(&[("paths", List(&FILE))]), FILE])),
    ("config set", WRITTEN),
    (
        "config trust",
        Fields(&[
            ("repository", Text),
            ("is_trusted", Bool),
            ("keys", List(&Fields(&[("key", Text), ("origin", Text)]))),
        ]),
    ),
    ("config unset", Fields(&[("key", Text), ("scope", Text), ("path", Text)])),
    (
        "help",
        Either(&[
            Fields(&[
                ("program", Text),
                ("version", Text),
                ("commands", List(&PAGE)),
                ("topics", List(&TOPIC)),
                ("environment", List(&VARIABLE)),
                ("settings", List(&MapOf(&Any))),
                ("schemas", MapOf(&Any)),
            ]),
            PAGE,
            TOPIC,
        ]),
    ),
];

/// By the words of the command.
pub(super) const LINES: &[(&str, &[Line])] = &[
    ("completion", &[Whole("completion_script")]),
    ("completion install", &[Whole("completion_installed")]),
    ("config assign", &[Whole("config_set")]),
    ("config edit", &[Whole("config_edited")]),
    ("config extend", &[Whole("config_extend")]),
    ("config get", &[Whole("config_value")]),
    ("config list", &[Whole("config_list"), Whole("config_list_schema")]),
    ("config path", &[Whole("config_paths"), Whole("config_path")]),
    ("config set", &[Whole("config_set")]),
    ("config trust", &[Whole("config_trusted")]),
    ("config unset", &[Whole("config_unset")]),
    ("help", &[Event("help_command", PAGE), Event("help_topic", TOPIC), Event("help_variable", VARIABLE)]),
];
