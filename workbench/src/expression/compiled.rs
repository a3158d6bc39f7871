//! An expression as instructions, in which `<`, `<=`, `>` and `>=` are those of [`super::order`], and `~` that of
//! [`super::texts`]: the engine has no hook for operators, and its own order values of any kinds.

use std::collections::BTreeMap;

use minijinja::machinery::ast::Expr;
use minijinja::machinery::{CodeGenerator, Instruction, Instructions, eval, make_string_output};
use minijinja::{AutoEscape, Environment, Error, Value};

use super::order::Comparison;
use super::{RuleError, order, texts, tree};

/// No place in the engine's table of tests and filters that were looked up already.
const LOOK_UP: u8 = !0;

/// The instructions of an expression.
///
/// # Errors
/// When it is no expression, and when it compares what can never be compared.
pub(super) fn compile(expression: &str) -> Result<Instructions<'_>, RuleError> {
    let tree = tree::parse(expression)?;
    order::check(expression, &tree)?;
    Ok(strict(&generated(expression, &tree)))
}

/// The value of an expression that was compiled.
pub(super) fn evaluate(
    environment: &Environment<'static>,
    instructions: &Instructions<'_>,
    context: Value,
) -> Result<Value, Error> {
    let mut nothing = String::new();
    let mut output = make_string_output(&mut nothing);
    let (value, _) = eval(environment, instructions, context, &BTreeMap::new(), &mut output, AutoEscape::None)?;
    Ok(value.unwrap_or_default())
}

fn generated<'text>(expression: &'text str, tree: &Expr<'text>) -> Instructions<'text> {
    let mut generator = CodeGenerator::new("<expression>", expression);
    generator.compile_expr(tree);
    generator.finish().0
}

/// The same instructions with a test in the place of each ordering operator, and a filter in that of `~`, which writes
/// lists as texts of any length: all take two values and leave one. Inside
/// a chain, `a < b < c`, the operator leaves `b` as well, which takes two instructions; jumps are shifted for that.
fn strict<'text>(stock: &Instructions<'text>) -> Instructions<'text> {
    let all: Vec<&Instruction<'text>> = (0..).map_while(|place| stock.get(place)).collect();
    let mut places = Vec::with_capacity(all.len() + 1);
    let mut next = 0;
    for instruction in &all {
        places.push(next);
        next += replacements(instruction).len().max(1) as u32;
    }
    places.push(next);
    let place = |target: u32| places.get(target as usize).copied().unwrap_or(target);
    let mut strict = Instructions::new(stock.name(), stock.source());
    for (index, instruction) in all.into_iter().enumerate() {
        let mut made = replacements(instruction);
        if made.is_empty() {
            made.push(match instruction {
                Instruction::Jump(target) => Instruction::Jump(place(*target)),
                Instruction::JumpIfFalse(target) => Instruction::JumpIfFalse(place(*target)),
                Instruction::JumpIfFalseOrPop(target) => Instruction::JumpIfFalseOrPop(place(*target)),
                Instruction::JumpIfTrueOrPop(target) => Instruction::JumpIfTrueOrPop(place(*target)),
                other => other.clone(),
            });
        }
        for instruction in made {
            match stock.get_span(index as u32) {
                Some(span) => strict.add_with_span(instruction, span),
                None => strict.add_with_line(instruction, 1),
            };
        }
    }
    strict
}

/// What stands in the place of an instruction; nothing when it stays.
fn replacements<'text>(instruction: &Instruction<'text>) -> Vec<Instruction<'text>> {
    match Comparison::of_instruction(instruction) {
        None if matches!(instruction, Instruction::StringConcat) => {
            vec![Instruction::ApplyFilter(texts::TOGETHER, Some(2), LOOK_UP)]
        }
        None => Vec::new(),
        Some((comparison, false)) => vec![Instruction::PerformTest(comparison.operator(), Some(2), LOOK_UP)],
        Some((comparison, true)) => {
            vec![Instruction::ApplyFilter(comparison.preserving(), Some(2), LOOK_UP), Instruction::UnpackList(2)]
        }
    }
}
