//! Hears the user while a run goes on: Ctrl-C, and requests left in the run's folder by `mngr tmr stop`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mngr_host::host::{Host, WatchRequest};
use mngr_host::interrupt::Attention;
use mngr_model::HostPath;

use super::control::StopKind;
use super::error::RunError;
use super::folder::RunFolder;

/// How soon the end of the run is noticed.
const PACE: Duration = Duration::from_millis(200);

/// Is told what the user wants.
type Ear = Box<dyn Fn(StopKind) + Send>;

/// Hears the user until it is dropped. Meanwhile no interrupt ends anything else.
pub(super) struct Listener(Arc<Shared>);

#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    passes_on: AtomicBool,
    wish: Mutex<Option<StopKind>>,
    ear: Mutex<Option<Ear>>,
}

impl Listener {
    /// Begins to hear. What was asked since the journal was taken is heard at once.
    pub(super) fn begin(host: &Arc<dyn Host>, folder: &RunFolder) -> Result<Self, RunError> {
        let shared = Arc::new(Shared::default());
        // Begun here, so that no interrupt can fall between this and the thread.
        let attention = Attention::begin();
        let hears = shared.clone();
        spawn("interrupts", move || hears.interrupts(attention))?;
        let (watches, host) = (shared.clone(), host.clone());
        let (control, request) = (folder.control(), folder.stop_request());
        spawn("requests", move || watches.requests(host.as_ref(), &control, &request))?;
        Ok(Self(shared))
    }

    /// Who is told from now on. What was wished before is told at once.
    pub(super) fn tell(&self, ear: impl Fn(StopKind) + Send + 'static) {
        let mut place = lock(&self.0.ear);
        if let Some(wish) = *lock(&self.0.wish) {
            ear(wish);
        }
        *place = Some(Box::new(ear));
    }

    /// What the user wants, if anything.
    pub(super) fn wish(&self) -> Option<StopKind> {
        *lock(&self.0.wish)
    }

    /// From now on an interrupt ends whatever is under way.
    pub(super) fn pass_on(&self) {
        self.0.passes_on.store(true, Ordering::Release);
    }

    /// Something that does the same from elsewhere.
    pub(super) fn passer(&self) -> impl Fn() + Send + 'static {
        let shared = self.0.clone();
        move || shared.passes_on.store(true, Ordering::Release)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
    }
}

impl Shared {
    fn interrupts(&self, mut attention: Attention) {
        let mut has_passed_on = false;
        while !self.is_over.load(Ordering::Acquire) {
            if attention.next(PACE) {
                let wish = if lock(&self.wish).is_some() { StopKind::Now } else { StopKind::Finish };
                self.wished(wish);
            }
            if self.passes_on.load(Ordering::Acquire) && !has_passed_on {
                match *lock(&self.wish) {
                    Some(_) => attention.pass_on(),
                    None => attention.end_the_rest(),
                }
                has_passed_on = true;
            }
        }
    }

    fn requests(&self, host: &dyn Host, control: &HostPath, request: &HostPath) {
        let watched = WatchRequest { folders: vec![control.clone()], processes: Vec::new() };
        let mut watch = host.watch(&watched).ok();
        let mut heard = None;
        while !self.is_over.load(Ordering::Acquire) {
            let wish =
                host.files().read_if_there(request).ok().flatten().and_then(|text| StopKind::read(&text));
            if wish != heard {
                heard = wish;
                wish.into_iter().for_each(|wish| self.wished(wish));
            }
            match watch.as_mut().map(|watch| watch.wait(PACE)) {
                Some(Ok(_)) => {}
                Some(Err(_)) | None => std::thread::sleep(PACE),
            }
        }
    }

    fn wished(&self, wish: StopKind) {
        let ear = lock(&self.ear);
        let mut known = lock(&self.wish);
        if *known == Some(StopKind::Now) {
            // There is nothing more to wish for.
            return;
        }
        *known = Some(wish);
        drop(known);
        if let Some(ear) = ear.as_ref() {
            ear(wish);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), RunError> {
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(work).map(|_| ()).map_err(RunError::Thread)
}

#[cfg(test)]
mod tests {
    use mngr_host::files::{Access, Durability};
    use mngr_host::local::LocalHost;

    use super::*;

    #[test]
    fn what_was_asked_before_it_began_is_heard() {
        let dir = tempfile::tempdir().unwrap();
        let root = HostPath::new(dir.path().to_str().unwrap());
        let host: Arc<dyn Host> = Arc::new(LocalHost::open(root.join("host")).unwrap());
        let folder = RunFolder::new(root.join("tmr_1"));
        host.files().make_folder(&folder.control()).unwrap();
        host.files().write(&folder.stop_request(), b"now", Access::Private, Durability::Cached).unwrap();
        let listener = Listener::begin(&host, &folder).unwrap();
        let (sender, heard) = std::sync::mpsc::channel();
        listener.tell(move |wish| sender.send(wish).unwrap());
        assert_eq!(heard.recv_timeout(Duration::from_secs(20)), Ok(StopKind::Now));
    }

    #[test]
    fn who_wants_an_end_at_once_cannot_want_less() {
        let shared = Shared::default();
        for wish in [StopKind::Finish, StopKind::Now, StopKind::Finish] {
            shared.wished(wish);
        }
        assert_eq!(*lock(&shared.wish), Some(StopKind::Now));
    }
}
