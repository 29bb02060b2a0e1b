//! One JSON object per line, with its keys in the order in which they are given.

use serde_json::Value;

/// One object, on one line.
pub(crate) fn line(entries: &[(&str, Value)]) -> String {
    let entry = |(key, value): &(&str, Value)| format!("{}:{value}", Value::from(*key));
    format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_texts_are_escaped() {
        let line = line(&[("z", Value::from("say \"hi\"")), ("a", Value::from(1.5)), ("m", Value::from(true))]);
        assert_eq!(line, r#"{"z":"say \"hi\"","a":1.5,"m":true}"#);
    }
}
