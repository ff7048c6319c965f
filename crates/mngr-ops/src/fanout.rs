//! Doing the same thing to many targets at once, with a bounded number of threads.

use std::sync::Mutex;

/// How many targets are worked on at once. Most of the time is spent waiting for other programs.
pub const WIDTH: usize = 32;

/// Applies `work` to every item and returns the results in the order of the items.
pub fn fan_out<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    fan_out_within(WIDTH, items, work)
}

/// The same, for at most `width` items at once.
pub fn fan_out_within<T: Send, R: Send>(width: usize, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    if items.len() <= 1 {
        return items.into_iter().map(work).collect();
    }
    let threads = items.len().min(width.max(1));
    let mut slots: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let queue = Mutex::new(items.into_iter().zip(slots.iter_mut()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    // A panic in `work` happens outside the lock, so the lock cannot be poisoned by it.
                    let next = queue.lock().ok().and_then(|mut queue| queue.next());
                    let Some((item, slot)) = next else { break };
                    *slot = Some(work(item));
                }
            });
        }
    });
    drop(queue);
    slots.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_items() {
        let items: Vec<u32> = (0..500).collect();
        assert_eq!(fan_out(items.clone(), |n| n * 2), items.iter().map(|n| n * 2).collect::<Vec<_>>());
    }
}
