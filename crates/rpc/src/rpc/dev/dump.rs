//! Dumps of the whole chain in anvil's format, extended by everything that anvil does not write.

use std::{
    fmt::Display,
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    sync::Arc,
};

use alloy_primitives::Bytes;
use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};
use tetrad_chain::{Change, ChangeError, Dump, Head};
use tetrad_web::{AnswerError, is_abandoned};

use crate::rpc::{
    Context, OnFork, RpcError, Table,
    json::{JsonWriter, WrittenAs},
};

/// The memory of a JSON value in addition to its text, once it has become an account, a slot or a
/// transaction; measured with accounts that hold one coin.
const VALUE: usize = 256;
/// The number of bytes that are read or written at a time.
const BUFFER_SIZE: usize = 64 << 10;

pub(super) fn methods(table: &mut Table) {
    table
        .wait("anvil_dumpState", dump_state, OnFork::Node)
        .aliases(&["hardhat_dumpState"])
        .describe(
            ["historic"],
            "The whole chain in anvil's format, extended under `tetrad` by everything that anvil \
             does not write: every past state. Compressed JSON, of which only the beginning is \
             shown here. Past states are always in it.",
        );

    table
        .change("anvil_loadState", load_state, OnFork::Node)
        .aliases(&["hardhat_loadState"])
        .describe(
            ["dump"],
            "Continues from a dump of this node, of another one, or of anvil, as compressed or \
             plain JSON. A chain in a data directory cannot become another one.",
        );
}

/// The whole chain as compressed JSON. Past states are always included.
async fn dump_state(context: Arc<Context>, _: (bool,)) -> Result<WrittenAs<Bytes>, RpcError> {
    let limit = context.config.max_dump_bytes;
    let (head, ahead) = context.chain.present().await?;
    let out = context.writer(usize::MAX);

    // Clients take turns. A dump is written piece by piece, and only its response takes memory.
    context
        .apart_for_caller(move || pack(&head, ahead, out, limit))
        .await
}

/// Writes a dump of `head` as hex digits of compressed JSON. The JSON may take `limit` bytes of
/// memory when it is read again.
fn pack(
    head: &Head,
    ahead: i64,
    mut out: JsonWriter,
    limit: usize,
) -> Result<WrittenAs<Bytes>, RpcError> {
    out.extend_from_slice(b"\"0x");
    let mut packed = GzEncoder::new(HexText(out), Compression::fast());
    let mut metered = Metered {
        inner: &mut packed,
        left: limit,
        exceeded: false,
    };

    let mut buffered = BufWriter::with_capacity(BUFFER_SIZE, &mut metered);
    let written = Dump::write(head, ahead, &mut buffered).and_then(|()| buffered.flush());
    drop(buffered);

    // The limits first: either of them also appears as a failure to write.
    if metered.exceeded {
        let what = format!(
            "response too large: a dump of the chain takes {}",
            over(limit)
        );
        return Err(RpcError::too_large(what));
    }
    if let Err(error) = packed.get_ref().0.check() {
        return Err(RpcError::does_not_fit(error, "ask again later"));
    }

    let packed = written.and_then(|()| packed.finish());
    let HexText(mut json) = packed.map_err(|error| RpcError::internal(error.to_string()))?;
    json.push(b'"');

    Ok(json
        .finish()
        .map_err(|error| RpcError::does_not_fit(error, "ask again later"))?
        .into())
}

/// Continues from a dump of this node, of another one, or of anvil, as compressed or plain JSON.
async fn load_state(context: Arc<Context>, (packed,): (Bytes,)) -> Result<bool, RpcError> {
    let limit = context.config.max_dump_bytes;
    // One at a time, since each may take as much memory as the limit allows.
    let turn = context.loading.clone().lock_owned().await;
    let params = context.chain.params();
    let history_limits = context.chain.history_limits();

    // The turn lasts until the chain has changed: the dump takes memory until then.
    let (prepared, _turn) = context
        .apart_for_caller(move || {
            let dump = read_dump(&packed[..], limit).map_err(invalid)?;
            let prepared = dump.prepare(params, history_limits).map_err(invalid)?;
            Ok((prepared, turn))
        })
        .await?;

    match context.chain.change(Change::Load(prepared)).await {
        Err(ChangeError::Dump(error)) => Err(invalid(error)),
        loaded => Ok(loaded.map(|_| true)?),
    }
}

fn invalid(what: impl Display) -> RpcError {
    RpcError::invalid_params(format!("params[0]: {what}"))
}

/// Reads a dump, as compressed or plain JSON, which may take `limit` bytes of memory.
///
/// # Errors
/// The reason why it is invalid.
pub fn read_dump<'a>(mut packed: impl BufRead + 'a, limit: usize) -> Result<Dump, String> {
    let beginning = packed.fill_buf().map_err(|error| error.to_string())?;
    let read: Box<dyn Read + 'a> = if beginning.starts_with(&[0x1f, 0x8b]) {
        Box::new(GzDecoder::new(packed))
    } else {
        Box::new(packed)
    };
    // The limit applies to the unpacked JSON, to which a short dump may expand.
    let mut metered = Metered {
        inner: read,
        left: limit,
        exceeded: false,
    };

    let dump =
        serde_json::from_reader::<_, Dump>(BufReader::with_capacity(BUFFER_SIZE, &mut metered));
    dump.map_err(|error| {
        if metered.exceeded {
            format!("the dump takes {}", over(limit))
        } else if error.is_io() {
            format!("cannot be unpacked: {error}")
        } else {
            format!("not a dump: {error}")
        }
    })
}

fn over(limit: usize) -> String {
    format!(
        "more than {} MB of memory (rpc.max-dump-megabytes)",
        limit >> 20
    )
}

/// Counts the memory of the JSON that passes through, up to a limit.
struct Metered<T> {
    inner: T,
    left: usize,
    exceeded: bool,
}

impl<T> Metered<T> {
    fn charge(&mut self, text: &[u8]) -> io::Result<()> {
        if is_abandoned() {
            return Err(io::Error::other(AnswerError::Abandoned));
        }

        // Every value follows one of these.
        let values = text
            .iter()
            .filter(|byte| matches!(byte, b',' | b'[' | b'{'))
            .count();

        let Some(left) = self.left.checked_sub(text.len() + VALUE * values) else {
            self.exceeded = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        };
        self.left = left;
        Ok(())
    }
}

impl<T: Read> Read for Metered<T> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(into)?;
        self.charge(&into[..length])?;
        Ok(length)
    }
}

impl<T: Write> Write for Metered<T> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let length = self.inner.write(text)?;
        self.charge(&text[..length])?;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Text in which bytes are written as hex digits.
struct HexText(JsonWriter);

impl Write for HexText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.digits(bytes);
        self.0.check().map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
