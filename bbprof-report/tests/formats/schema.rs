//! Checks a value against the part of JSON Schema that our schemas and that of speedscope
//! use; any other keyword is a failure of the test.

use serde_json::Value;

/// Where the value deviates, and how.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    at: String,
    what: String,
}

pub(crate) fn check(schema: &Value, value: &Value, at: &str) -> Result<(), Fault> {
    check_part(schema, schema, value, at)
}

/// Checks against a part of the schema `whole`, which has the definitions.
fn check_part(whole: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), Fault> {
    let fault = |what: String| Err(Fault { at: at.to_owned(), what });
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        match keyword.as_str() {
            "$schema" | "$id" | "title" | "description" | "properties" | "definitions" => {}
            "$ref" => {
                let pointer = rule.as_str().and_then(|reference| reference.strip_prefix('#')).expect("a place in the schema");
                check_part(whole, whole.pointer(pointer).expect("a definition"), value, at)?;
            }
            "anyOf" => {
                let choices = rule.as_array().expect("a list").iter().map(|choice| check_part(whole, choice, value, at));
                let faults: Vec<Fault> = choices.filter_map(Result::err).collect();
                if faults.len() == rule.as_array().expect("a list").len() {
                    return fault(format!("none of the choices holds: {faults:?}"));
                }
            }
            "type" => {
                let names = rule.as_array().map_or_else(|| vec![rule], |names| names.iter().collect());
                if !names.iter().any(|name| is_of_type(value, name.as_str().expect("a type has a name"))) {
                    return fault(format!("expected {rule}, found {value}"));
                }
            }
            "const" if rule != value => return fault(format!("expected {rule}, found {value}")),
            "const" => {}
            "enum" if !rule.as_array().expect("a list").contains(value) => return fault(format!("{value} is not in {rule}")),
            "enum" => {}
            "minimum" if value.as_f64().is_some_and(|number| number < rule.as_f64().expect("a number")) => {
                return fault(format!("{value} is less than {rule}"));
            }
            "minimum" => {}
            "required" if !value.is_object() => {}
            "required" => {
                for name in rule.as_array().expect("a list") {
                    if value.get(name.as_str().expect("a name")).is_none() {
                        return fault(format!("{name} is missing"));
                    }
                }
            }
            "items" => {
                for (position, item) in value.as_array().into_iter().flatten().enumerate() {
                    check_part(whole, rule, item, &format!("{at}[{position}]"))?;
                }
            }
            "additionalProperties" => {}
            other => panic!("the checker does not know the keyword {other}"),
        }
    }
    let properties = schema.get("properties");
    for (name, member) in value.as_object().into_iter().flatten() {
        let at = format!("{at}.{name}");
        match (properties.and_then(|properties| properties.get(name)), schema.get("additionalProperties")) {
            (Some(rule), _) => check_part(whole, rule, member, &at)?,
            (None, Some(Value::Bool(false))) => return Err(Fault { at, what: "not in the schema".to_owned() }),
            (None, Some(rule @ Value::Object(_))) => check_part(whole, rule, member, &at)?,
            (None, _) => {}
        }
    }
    Ok(())
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the checker does not know the type {other}"),
    }
}
