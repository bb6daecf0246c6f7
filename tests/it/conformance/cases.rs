//! The recorded requests and responses of the suite, sent in sequence to one node, as its own
//! runner does.

use std::{fs, path::PathBuf};

use serde_json::Value;

use super::{imported, suite};

/// A conversation: requests with their responses, and whether only the shape of the result counts.
struct Case {
    name: String,
    speconly: bool,
    exchanges: Vec<(String, Value)>,
}

fn read(path: &PathBuf) -> Case {
    let mut case = Case {
        name: path.display().to_string(),
        speconly: false,
        exchanges: Vec::new(),
    };
    let mut request = None;
    for line in fs::read_to_string(path).unwrap().lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix("//") {
            case.speconly |=
                case.exchanges.is_empty() && comment.trim_start().starts_with("speconly:");
        } else if let Some(sent) = line.strip_prefix(">>") {
            request = Some(sent.trim().to_owned());
        } else if let Some(received) = line.strip_prefix("<<") {
            case.exchanges.push((
                request.take().unwrap(),
                serde_json::from_str(received.trim()).unwrap(),
            ));
        }
    }
    case
}

/// Removes the messages of errors on both sides, as their texts differ between clients.
fn without_messages(got: &mut Value, want: &mut Value) {
    match (got, want) {
        (Value::Object(got), Value::Object(want)) => {
            for (name, want) in want.iter_mut() {
                let Some(got) = got.get_mut(name) else {
                    continue;
                };
                match (name.as_str(), &mut *got, &mut *want) {
                    ("error", Value::Object(got), Value::Object(want))
                        if got.contains_key("message") =>
                    {
                        got.remove("message");
                        want.remove("message");
                    }
                    _ => without_messages(got, want),
                }
            }
        }
        (Value::Array(got), Value::Array(want)) => {
            got.iter_mut()
                .zip(want)
                .for_each(|(got, want)| without_messages(got, want));
        }
        _ => {}
    }
}

#[tokio::test]
async fn every_recorded_request_gets_the_recorded_answer() {
    let (Some(folder), Some(node)) = (suite(), imported().await) else {
        return;
    };
    let mut paths: Vec<PathBuf> = fs::read_dir(folder.join("cases"))
        .unwrap()
        .flat_map(|method| fs::read_dir(method.unwrap().path()).unwrap())
        .map(|file| file.unwrap().path())
        .collect();
    paths.sort();
    let mut wrong = Vec::new();
    for case in paths.iter().map(read) {
        for (request, mut want) in case.exchanges {
            let mut got = node.post(request).await;
            if case.speconly && got.get("error").is_none() {
                continue;
            }
            without_messages(&mut got, &mut want);
            if got != want {
                wrong.push(format!("{}: {got}", case.name));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases: {wrong:#?}",
        wrong.len(),
        paths.len()
    );
}
