//! A value derived from the newest head, computed once for all concurrent readers.

use std::{
    future::Future,
    sync::{Arc, Weak},
};

use arc_swap::ArcSwapOption;
use tokio::sync::Mutex;

use super::{Chain, Head};

/// The value for the newest head that was requested.
pub struct PerHead<T> {
    latest: ArcSwapOption<(Weak<Head>, Arc<T>)>,
    /// Held while a value is computed; other readers wait for it.
    turn: Mutex<()>,
}

impl<T> Default for PerHead<T> {
    fn default() -> Self {
        Self {
            latest: ArcSwapOption::empty(),
            turn: Mutex::default(),
        }
    }
}

impl<T> PerHead<T> {
    /// Returns the newest head and its value, which `make` computes on the first request. An error
    /// is not cached: the next request tries again.
    pub async fn get<E, F>(
        &self,
        chain: &Chain,
        make: impl FnOnce(Arc<Head>) -> F,
    ) -> Result<(Arc<Head>, Arc<T>), E>
    where
        F: Future<Output = Result<T, E>>,
    {
        if let Some(found) = self.find(chain.head()) {
            return Ok(found);
        }

        // Another reader may have computed the value while this one waited for its turn.
        let _turn = self.turn.lock().await;
        let head = chain.head();
        if let Some(found) = self.find(head.clone()) {
            return Ok(found);
        }

        let value = Arc::new(make(head.clone()).await?);
        // Weak, so that the value does not keep an old chain alive; while it exists, no other head
        // can have its address.
        self.latest
            .store(Some(Arc::new((Arc::downgrade(&head), value.clone()))));
        Ok((head, value))
    }

    fn find(&self, head: Arc<Head>) -> Option<(Arc<Head>, Arc<T>)> {
        let latest = self.latest.load();
        let (of, value) = &**latest.as_ref()?;
        std::ptr::eq(of.as_ptr(), Arc::as_ptr(&head)).then(|| (head, value.clone()))
    }
}
