//! Pieces of transcripts and recordings, made when the first of them is asked for and kept as files.
//!
//! A large recording takes a while; its first pieces can be had before the last ones are there.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mngr_host::files::{Access, Durability, Files, FilesError};
use mngr_host::host::Host;
use mngr_model::HostPath;
use tokio::sync::{Semaphore, watch};

use crate::catalogue::{Key, Test};
use crate::pages::{self, PageError, Piece, Sink};

/// What is not larger is made for each piece anew, which costs less than keeping it.
const SMALL: u64 = 256 * 1024;
/// So many transcripts and recordings are made at a time.
const AT_ONCE: usize = 2;
/// So many are kept.
const MAX_KEPT: usize = 200;

/// What of a test is made in one go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// Its transcript.
    Rows,
    /// The recording with this number.
    Cast(usize),
}

/// Which piece of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The one that comes last and knows all others.
    Map,
    /// The one with this number.
    Number(usize),
}

impl Wanted {
    /// The last part of its name.
    fn name(self) -> String {
        match self {
            Self::Map => "map".to_owned(),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// What came of making a piece in memory.
enum Made {
    /// It was made; nothing when there is no such piece.
    Found(Option<Vec<u8>>),
    /// Its part is too large for that.
    TooLarge,
}

fn make_small(files: &dyn Files, test: &Test, part: Part, wanted: Wanted) -> Made {
    let source = match part {
        Part::Rows => test.transcript_file(),
        Part::Cast(number) => test.recordings.get(number).map(|name| test.folder.join(name)),
    };
    let size = source.and_then(|source| files.stat(&source).ok()?).map_or(0, |stat| stat.size);
    if size > SMALL {
        return Made::TooLarge;
    }
    let mut pieces: Vec<Piece> = Vec::new();
    if make(files, test, part, &mut pieces).is_err() {
        return Made::Found(None);
    }
    let found = pieces.into_iter().find(|piece| piece.last_name() == wanted.name());
    Made::Found(found.map(|piece| piece.script.into_bytes()))
}

/// Makes all pieces of a part.
fn make(files: &dyn Files, test: &Test, part: Part, sink: &mut dyn Sink) -> Result<(), PageError> {
    match part {
        Part::Rows => pages::transcript(files, test, sink),
        Part::Cast(number) => pages::recording(files, test, number, sink),
    }
}

/// Makes pieces.
pub(super) struct Workshop {
    host: Arc<dyn Host>,
    folder: HostPath,
    jobs: Mutex<HashMap<(Key, Part), Job>>,
    hands: Arc<Semaphore>,
    is_stopping: Arc<AtomicBool>,
}

/// A part that is made or has been.
#[derive(Clone)]
struct Job {
    /// Of this version of the test.
    version: String,
    folder: HostPath,
    progress: watch::Receiver<Progress>,
    /// Larger for those that were asked for later.
    age: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// So many numbered pieces are there.
    Going(usize),
    /// All are.
    Done,
    /// No more will come.
    Failed,
}

impl Workshop {
    /// A workshop in this new folder.
    pub(super) fn open(host: Arc<dyn Host>, folder: HostPath) -> Result<Self, FilesError> {
        host.files().make_new_folder(&folder, Access::PrivateExecutable)?;
        let hands = Arc::new(Semaphore::new(AT_ONCE));
        Ok(Self { host, folder, jobs: Mutex::default(), hands, is_stopping: Arc::default() })
    }

    /// Lets everything that is being made end at its next piece.
    pub(super) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
    }

    /// Removes all that was made.
    pub(super) fn remove(&self) {
        // In a folder for temporary files it may stay as well.
        let _ = self.host.files().remove_tree(&self.folder);
    }

    /// A piece, once it is there; nothing when there is no such piece.
    pub(super) async fn piece(&self, test: &Arc<Test>, part: Part, wanted: Wanted) -> Option<Vec<u8>> {
        let (host, small) = (self.host.clone(), test.clone());
        let made = tokio::task::spawn_blocking(move || make_small(host.files(), &small, part, wanted));
        match made.await.ok()? {
            Made::Found(script) => return script,
            Made::TooLarge => {}
        }
        let path = self.kept(test, part, wanted).await?;
        let host = self.host.clone();
        tokio::task::spawn_blocking(move || host.files().read(&path)).await.ok()?.ok()
    }

    /// The file of a piece, once it is there.
    async fn kept(&self, test: &Arc<Test>, part: Part, wanted: Wanted) -> Option<HostPath> {
        let mut job = self.job(test, part);
        let reached = job.progress.wait_for(|progress| match (progress, wanted) {
            (Progress::Done | Progress::Failed, _) => true,
            (Progress::Going(count), Wanted::Number(number)) => *count > number,
            (Progress::Going(_), Wanted::Map) => false,
        });
        reached.await.ok()?;
        Some(job.folder.join(&format!("{}.js", wanted.name())))
    }

    /// The job for a part of this version of the test; begins it where there is none.
    fn job(&self, test: &Arc<Test>, part: Part) -> Job {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let id = (test.key.clone(), part);
        let age = jobs.values().map(|job| job.age).max().unwrap_or(0) + 1;
        if let Some(job) = jobs.get_mut(&id).filter(|job| job.version == test.version) {
            job.age = age;
            return job.clone();
        }
        if let Some(outdated) = jobs.remove(&id) {
            self.forget(&outdated);
        }
        if jobs.len() >= MAX_KEPT
            && let Some(oldest) = jobs.iter().min_by_key(|(_, job)| job.age).map(|(id, _)| id.clone())
            && let Some(job) = jobs.remove(&oldest)
        {
            self.forget(&job);
        }
        let job = self.begin(test.clone(), part, age);
        jobs.insert(id, job.clone());
        job
    }

    fn forget(&self, job: &Job) {
        let _ = self.host.files().remove_tree(&job.folder);
    }

    fn begin(&self, test: Arc<Test>, part: Part, age: usize) -> Job {
        let folder = self.folder.join(&format!("{}-{age}", test.key));
        let (sender, progress) = watch::channel(Progress::Going(0));
        let job = Job { version: test.version.clone(), folder: folder.clone(), progress, age };
        let (host, hands, is_stopping) = (self.host.clone(), self.hands.clone(), self.is_stopping.clone());
        tokio::spawn(async move {
            let Ok(_hand) = hands.acquire().await else { return };
            let making = tokio::task::spawn_blocking(move || {
                let files = host.files();
                let mut shelf =
                    Shelf { files, folder, progress: &sender, count: 0, is_stopping: &is_stopping };
                let made = files.make_folder(&shelf.folder).map_err(PageError::from);
                let made = made.and_then(|()| make(files, &test, part, &mut shelf));
                sender.send_replace(if made.is_ok() { Progress::Done } else { Progress::Failed });
            });
            // A panic in there drops the sender, which tells who waits.
            let _ = making.await;
        });
        job
    }
}

/// Where one job puts its pieces.
struct Shelf<'a> {
    files: &'a dyn Files,
    folder: HostPath,
    progress: &'a watch::Sender<Progress>,
    count: usize,
    is_stopping: &'a AtomicBool,
}

impl Sink for Shelf<'_> {
    fn put(&mut self, piece: Piece) -> Result<(), PageError> {
        // Nobody else holds a receiver once the job is forgotten.
        if self.is_stopping.load(Ordering::Acquire) || self.progress.is_closed() {
            return Err(PageError::Stopped);
        }
        let name = piece.last_name();
        let path = self.folder.join(&format!("{name}.js"));
        self.files.write(&path, piece.script.as_bytes(), Access::Private, Durability::Cached)?;
        if name != "map" {
            self.count += 1;
            self.progress.send_replace(Progress::Going(self.count));
        }
        Ok(())
    }
}
