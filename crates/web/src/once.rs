//! Values that are made once, on first use.

use std::sync::Arc;

use tokio::sync::OnceCell;

/// A value that the first request for it makes. Clones share it.
#[derive(Debug)]
pub struct MadeOnce<T>(Arc<OnceCell<T>>);

impl<T> Clone for MadeOnce<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for MadeOnce<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Clone + Send + Sync + 'static> MadeOnce<T> {
    /// Returns the value, and makes it first if there is none. A task of its own does so, which
    /// goes on when the client hangs up: the next client would begin again. Returns none if it
    /// could not be made, which the next request tries again.
    pub async fn get<F>(&self, make: impl FnOnce() -> F + Send + 'static) -> Option<T>
    where
        F: Future<Output = Option<T>> + Send,
    {
        if let Some(made) = self.0.get() {
            return Some(made.clone());
        }

        let cell = self.0.clone();
        let making = tokio::spawn(async move {
            let made = cell
                .get_or_try_init(|| async { make().await.ok_or(()) })
                .await;
            made.ok().cloned()
        });

        making.await.ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::FutureExt;
    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn a_value_is_made_once_even_if_all_who_asked_hang_up() {
        let value = MadeOnce::default();
        let began = Arc::new(AtomicUsize::new(0));
        let go = Arc::new(Notify::new());
        let done = Arc::new(Notify::new());
        let make = || {
            let began = began.clone();
            let go = go.clone();
            let done = done.clone();
            move || async move {
                began.fetch_add(1, Ordering::Relaxed);
                go.notified().await;
                done.notify_one();
                Some(7)
            }
        };

        for _ in 0..100 {
            assert_eq!(value.get(make()).now_or_never(), None, "it is being made");
            tokio::task::yield_now().await;
        }

        go.notify_one();
        done.notified().await;

        assert_eq!(value.get(make()).await, Some(7));
        assert_eq!(began.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn what_could_not_be_made_is_tried_again() {
        let value = MadeOnce::default();
        assert_eq!(value.get(|| async { None }).await, None);
        assert_eq!(value.get(|| async { Some(7) }).await, Some(7));
        assert_eq!(value.get(|| async { Some(8) }).await, Some(7));
    }
}
