//! What only a macro can do for a test: know where it stands, and cite without being called a method.

/// The test this stands in, as a [`TestPlace`](crate::session::TestPlace).
#[macro_export]
macro_rules! here {
    () => {{
        fn here() {}
        $crate::session::TestPlace::new(
            file!(),
            line!(),
            env!("CARGO_MANIFEST_DIR"),
            option_env!("CARGO_BIN_EXE_mngr"),
            ::std::any::type_name_of_val(&here),
        )
    }};
}

/// Begins the session of the test this stands in.
#[macro_export]
macro_rules! session {
    () => {
        $crate::session::Setup::new($crate::here!()).start()
    };
}

/// Says which blocks of the tutorial a test is about: its session, then the text of each block.
///
/// ```no_run
/// use mngr_e2e::{session, tutorial_block};
///
/// let e2e = session!();
/// tutorial_block!(e2e, "mngr list", "mngr list --running");
/// ```
#[macro_export]
macro_rules! tutorial_block {
    ($session:expr, $($text:expr),+ $(,)?) => {
        $($session.write_tutorial_block($text);)+
    };
}
