//! Records: a framing of files with checksums, by which a reader distinguishes intact, torn and
//! damaged content.
//!
//! ```text
//! 0xb1 | length u32 | sequence u64 | CRC-32 of the payload u32 | CRC-32 of the 17 bytes before u32 | payload | 0x5a
//! ```
//!
//! Numbers are little-endian. A file only grows, and a record is on disk before the next one is
//! written. A record that is not intact is therefore one of two things. At the end of the file it
//! may be torn: the rest of a write that was never acknowledged because the process or the machine
//! stopped. Part of such a record is missing, as sectors that were not written are cut off or read
//! as zeros. The first and the last byte of a record are never zero, so that zeros at the end of a
//! file are not part of a record. Anything else is damage to an acknowledged record.

use std::io::{self, Read};

use tetrad_stdx::codec::Writer;

use super::StoredFile;

/// Size of a record's header in bytes.
pub const HEADER: usize = 21;
const FIRST: u8 = 0xb1;
const LAST: u8 = 0x5a;
/// Size of a disk's atomic writes in bytes.
const SECTOR: u64 = 512;

/// Returns the size of a record with a payload of this size.
fn record_size(payload: usize) -> usize {
    HEADER + payload + 1
}

/// Appends a record with the payload that `write` encodes.
pub fn write_record(
    out: &mut Vec<u8>,
    scratch: &mut Writer,
    sequence: u64,
    write: impl FnOnce(&mut Writer),
) {
    scratch.clear();
    write(scratch);
    push_record(out, sequence, scratch.bytes());
}

/// Appends a record with this payload.
pub(crate) fn push_record(out: &mut Vec<u8>, sequence: u64, payload: &[u8]) {
    let start = out.len();
    out.push(FIRST);
    out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    out.extend_from_slice(&sequence.to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
    let check = crc32fast::hash(&out[start..]);
    out.extend_from_slice(&check.to_le_bytes());
    out.extend_from_slice(payload);
    out.push(LAST);
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its offset in the file.
    pub offset: u64,
    /// Its sequence number.
    pub sequence: u64,
    /// Its payload.
    pub payload: &'a [u8],
}

/// The state of a file after its intact records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// The file ends with the last record.
    Clean,
    /// The file ends with the rest of an unacknowledged write.
    Torn,
    /// The next record is damaged, for this reason.
    Damaged(&'static str),
}

/// The header of a record.
#[derive(Clone, Copy, Debug)]
struct RecordHeader {
    length: usize,
    sequence: u64,
    check: u32,
}

impl RecordHeader {
    /// Reads a header. Returns `None` if it is damaged.
    fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..HEADER)?;
        let check = crc32fast::hash(&bytes[..HEADER - 4]);
        let intact = bytes[0] == FIRST && check == number_at(bytes, HEADER - 4);
        intact.then(|| Self {
            length: number_at(bytes, 1) as usize,
            sequence: u64::from(number_at(bytes, 5)) | u64::from(number_at(bytes, 9)) << 32,
            check: number_at(bytes, 13),
        })
    }

    /// Returns the payload at the beginning of `bytes`, or `None` if it is damaged.
    fn payload<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let payload = bytes.get(..self.length)?;
        (bytes.get(self.length) == Some(&LAST) && crc32fast::hash(payload) == self.check)
            .then_some(payload)
    }
}

fn number_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Reads the payload of the next record of a stream, or returns `None` at its end. Memory is
/// allocated as the payload is read, so that a wrong length alone takes none.
pub(crate) fn read_record(from: &mut dyn Read, sequence: u64) -> Result<Option<Vec<u8>>, String> {
    let head = read_up_to(from, HEADER)?;
    if head.is_empty() {
        return Ok(None);
    }
    let header = RecordHeader::read(&head)
        .filter(|header| header.sequence == sequence)
        .ok_or("the head of a record does not match its checksum")?;

    let mut bytes = read_up_to(from, header.length + 1)?;
    header
        .payload(&bytes)
        .ok_or("a record does not match its checksum or is truncated")?;
    bytes.pop();
    Ok(Some(bytes))
}

fn read_up_to(from: &mut dyn Read, length: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    from.take(length as u64)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Reads the length of the payload of the record at `offset` of a file; `None` if
/// [`read_record_at`] would refuse its head.
pub(crate) fn read_length_at(
    file: &dyn StoredFile,
    offset: u64,
    sequence: u64,
    limit: usize,
) -> io::Result<Option<usize>> {
    Ok(read_header_at(file, offset, sequence, limit)?.map(|header| header.length))
}

fn read_header_at(
    file: &dyn StoredFile,
    offset: u64,
    sequence: u64,
    limit: usize,
) -> io::Result<Option<RecordHeader>> {
    let mut head = [0; HEADER];
    file.read_at(&mut head, offset)?;
    Ok(RecordHeader::read(&head)
        .filter(|header| header.sequence == sequence && header.length <= limit))
}

/// Reads the payload of the record at `offset` of a file. The inner error is the fault of a record
/// that is damaged, has another sequence number, or is larger than `limit`.
pub(crate) fn read_record_at(
    file: &dyn StoredFile,
    offset: u64,
    sequence: u64,
    limit: usize,
) -> io::Result<Result<Vec<u8>, &'static str>> {
    let Some(header) = read_header_at(file, offset, sequence, limit)? else {
        return Ok(Err("the head of a record does not match its checksum"));
    };

    let mut bytes = vec![0; header.length + 1];
    file.read_at(&mut bytes, offset + HEADER as u64)?;
    if header.payload(&bytes).is_none() {
        return Ok(Err("a record does not match its checksum"));
    }
    bytes.pop();
    Ok(Ok(bytes))
}

/// An iterator over the intact records at the beginning of a file.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    offset: u64,
}

impl<'a> Records<'a> {
    /// Returns the records in a file's content. Zeros at the end are space for further ones.
    pub fn new(bytes: &'a [u8]) -> Self {
        let end = bytes
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(0, |last| last + 1);
        Self {
            bytes: &bytes[..end],
            offset: 0,
        }
    }

    /// Returns the offset of the next record.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the state of the file after the records that have been read.
    pub fn tail(&self) -> Tail {
        let rest = &self.bytes[self.offset as usize..];
        if rest.is_empty() {
            return Tail::Clean;
        }

        let Some(header) = RecordHeader::read(rest) else {
            let torn = rest.len() < HEADER || self.has_gap(HEADER);
            return if torn {
                Tail::Torn
            } else {
                Tail::Damaged("the head of a record does not match its checksum")
            };
        };

        // The head is intact, so that this is the length that was to be written.
        let size = record_size(header.length);
        if rest.len() < size {
            return Tail::Torn;
        }
        if rest.len() == size && self.has_gap(size) {
            return Tail::Torn;
        }
        Tail::Damaged("a record does not match its checksum")
    }

    /// Returns whether one of the sectors with the record's first `size` bytes was not written.
    fn has_gap(&self, size: usize) -> bool {
        let mut at = self.offset;
        let end = at + size as u64;
        while at < end {
            let next = (at / SECTOR + 1) * SECTOR;
            let sector = &self.bytes[at as usize..(next as usize).min(self.bytes.len())];
            if sector.iter().all(|byte| *byte == 0) {
                return true;
            }
            at = next;
        }
        false
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let rest = &self.bytes[self.offset as usize..];
        let header = RecordHeader::read(rest)?;
        let payload = header.payload(&rest[HEADER..])?;

        let record = Record {
            offset: self.offset,
            sequence: header.sequence,
            payload,
        };
        self.offset += record_size(header.length) as u64;
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(payloads: &[usize]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (sequence, length) in payloads.iter().enumerate() {
            write_record(&mut bytes, &mut Writer::default(), sequence as u64, |out| {
                out.raw(&vec![7; *length])
            });
        }
        bytes
    }

    fn read(bytes: &[u8]) -> (usize, Tail) {
        let mut records = Records::new(bytes);
        let count = records.by_ref().count();
        (count, records.tail())
    }

    #[test]
    fn a_write_that_was_cut_short_is_torn_wherever_it_was_cut() {
        let bytes = file(&[10, 700]);
        let first = record_size(10);
        for length in first + 1..bytes.len() {
            assert_eq!(read(&bytes[..length]), (1, Tail::Torn), "cut at {length}");
        }
        assert_eq!(read(&bytes), (2, Tail::Clean));
        assert_eq!(read(&bytes[..first]), (1, Tail::Clean));
    }

    #[test]
    fn a_sector_that_was_not_written_is_torn() {
        for first in [0, 470, 480, 490, 500] {
            let bytes = file(&[first, 1_500]);
            let start = record_size(first);
            for sector in start / 512..bytes.len().div_ceil(512) {
                let mut bytes = bytes.clone();
                let end = bytes.len().min((sector + 1) * 512);
                bytes[start.max(sector * 512)..end].fill(0);
                assert_eq!(
                    read(&bytes),
                    (1, Tail::Torn),
                    "first {first}, sector {sector}"
                );
            }
        }
    }

    #[test]
    fn a_flipped_bit_is_damage_wherever_it_is() {
        let bytes = file(&[10, 20, 30]);
        for at in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[at / 8] ^= 1 << (at % 8);
            let (count, tail) = read(&bytes);
            assert!(
                count < 3 && matches!(tail, Tail::Damaged(_)),
                "bit {at}: {count} records, {tail:?}"
            );
        }
    }
}
