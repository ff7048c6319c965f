//! What a test may choose before it begins.

use mngr_model::HostPath;

use super::environment::Project;
use super::error::or_fail;
use super::options::Options;
use super::{Session, TestPlace};

/// A session that has not begun.
///
/// ```no_run
/// use mngr_e2e::session::{Project, Setup};
///
/// let e2e = Setup::new(mngr_e2e::here!()).project(Project::Empty).start();
/// ```
#[derive(Debug)]
pub struct Setup {
    pub(super) place: TestPlace,
    pub(super) options: Options,
    pub(super) project: Project,
}

impl Setup {
    /// As usual, with the choices of the person who runs the tests.
    ///
    /// # Panics
    /// When a variable holds none of its choices.
    #[track_caller]
    pub fn new(place: TestPlace) -> Self {
        let options =
            or_fail(Options::from_variables(&HostPath::new(&place.package), |name| std::env::var(name).ok()));
        Self { place, options, project: Project::default() }
    }

    /// With these choices in place of those of the person.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// What is in the project folder when the test begins.
    #[must_use]
    pub fn project(mut self, project: Project) -> Self {
        self.project = project;
        self
    }

    /// Begins.
    ///
    /// # Panics
    /// When the environment or the folder of the artifacts cannot be made.
    #[track_caller]
    pub fn start(self) -> Session {
        or_fail(Session::open(self))
    }
}
