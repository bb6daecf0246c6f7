//! What a node keeps: the [log], which is the chain, and the [files beside it](store), most of
//! which are derived from the log. Both are written to a [storage], an abstraction of files
//! that tests can make fail.
//!
//! The crate knows nothing of execution, of HTTP, or of clusters. It orders entries by height and
//! encodes them, and does not interpret them.
//!
//! ```
//! use tetrad_store::storage::{Directory, read_file, replace_file};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path();
//! let directory = Directory::new(path)?;
//! replace_file(&directory, "name", b"content")?;
//! assert_eq!(read_file(&directory, "name")?.as_deref(), Some(&b"content"[..]));
//! assert_eq!(read_file(&directory, "other")?, None);
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod log;
pub mod storage;
pub mod store;
