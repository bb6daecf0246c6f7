//! Something that follows from the newest head, made once for everybody who asks.

use std::{
    future::Future,
    sync::{Arc, Weak},
};

use arc_swap::ArcSwapOption;
use tokio::sync::Mutex;

use crate::chain::{Chain, Head};

/// The value for the newest head that somebody asked about.
pub struct PerHead<T> {
    latest: ArcSwapOption<(Weak<Head>, Arc<T>)>,
    /// Held by whoever makes a value; others who want the same wait for it.
    turn: Mutex<()>,
}

impl<T> Default for PerHead<T> {
    fn default() -> Self {
        Self { latest: ArcSwapOption::empty(), turn: Mutex::default() }
    }
}

impl<T> PerHead<T> {
    /// The newest head and its value, which `make` makes if nobody asked before. An error is nobody else's: the next one
    /// who asks tries again.
    pub async fn get<E, F>(&self, chain: &Chain, make: impl FnOnce(Arc<Head>) -> F) -> Result<(Arc<Head>, Arc<T>), E>
    where
        F: Future<Output = Result<T, E>>,
    {
        if let Some(found) = self.find(chain.head()) {
            return Ok(found);
        }
        let _turn = self.turn.lock().await;
        let head = chain.head();
        if let Some(found) = self.find(head.clone()) {
            return Ok(found);
        }
        let value = Arc::new(make(head.clone()).await?);
        // Weak, so that the value does not hold an old chain; as long as it exists, no other head takes its place.
        self.latest.store(Some(Arc::new((Arc::downgrade(&head), value.clone()))));
        Ok((head, value))
    }

    fn find(&self, head: Arc<Head>) -> Option<(Arc<Head>, Arc<T>)> {
        let latest = self.latest.load();
        let (of, value) = &**latest.as_ref()?;
        std::ptr::eq(of.as_ptr(), Arc::as_ptr(&head)).then(|| (head, value.clone()))
    }
}
