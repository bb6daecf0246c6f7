//! Compression of long bodies while the client reads them.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::body::{Bytes, HttpBody};
use hyper::body::Frame;

use super::encoder::Encoder;
use crate::{Held, answer::CountedBody};

/// Bytes that are compressed at once; that takes less than a millisecond.
const PIECE_SIZE: usize = 64 << 10;

/// A body that is compressed piece by piece. Other tasks run between two pieces.
pub(super) struct EncodedBody {
    body: CountedBody,
    rest: Bytes,
    /// None after the end.
    encoder: Option<Encoder>,
    /// Whether a piece was compressed in this turn of the task.
    worked: bool,
    /// The encoder's memory.
    _held: Held,
}

impl EncodedBody {
    /// The body as `encoder` compresses it, whose memory is `held`.
    pub(super) fn new(body: CountedBody, encoder: Encoder, held: Held) -> Self {
        Self {
            body,
            rest: Bytes::new(),
            encoder: Some(encoder),
            worked: false,
            _held: held,
        }
    }

    /// Compresses the next piece. Returns none at the end.
    fn next(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Option<Vec<u8>>>> {
        while self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                // Frames without data are trailers, which no compressed response has.
                Some(Ok(frame)) => self.rest = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return Poll::Ready(Err(io::Error::other(error))),
                None => return Poll::Ready(self.encoder.take().map(Encoder::finish).transpose()),
            }
        }

        let Some(encoder) = &mut self.encoder else {
            return Poll::Ready(Ok(None));
        };

        let piece = self.rest.split_to(self.rest.len().min(PIECE_SIZE));
        self.worked = true;
        Poll::Ready(encoder.write(&piece).map(|()| Some(encoder.take())))
    }
}

impl HttpBody for EncodedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        loop {
            // Compressing takes the thread, so that other tasks run between two pieces.
            if std::mem::take(&mut self.worked) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }

            match ready!(self.next(context)) {
                // A piece may leave nothing to send yet.
                Ok(Some(encoded)) if encoded.is_empty() => {}
                Ok(Some(encoded)) => return Poll::Ready(Some(Ok(Frame::data(encoded.into())))),
                Ok(None) => return Poll::Ready(None),
                Err(error) => {
                    // A body has ended with its error.
                    self.encoder = None;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.encoder.is_none()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::compression::{
        encoder::{Effort, tests::decode},
        negotiation::Coding,
    };

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn long_bodies_arrive_whole(words in vec("[a-z ]{1,40}", 0..40), times in 1..400usize) {
            let body = Bytes::from(words.concat().repeat(times));
            let runtime = tokio::runtime::Builder::new_current_thread()
                .build()
                .expect("no failure");

            for coding in [Coding::Brotli, Coding::Gzip] {
                let plain = CountedBody::from_counted(body.clone().into());
                let encoder = Encoder::new(coding, Effort::Once, 0);
                let body_stream = EncodedBody::new(plain, encoder, Held::default());
                let collected = runtime.block_on(body_stream.collect()).expect("no failure");
                let encoded = collected.to_bytes();
                prop_assert!(decode(&encoded, coding) == body);
            }
        }
    }
}
