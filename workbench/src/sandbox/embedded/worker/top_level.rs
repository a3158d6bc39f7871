//! Compiles a script, `await` outside of functions included.
//!
//! The interpreter has no flag for it. So a script that needs it is cut at its top level: runs of
//! plain statements stay module code; each statement that awaits becomes the body of a coroutine
//! function whose names are all global. Line numbers stay what they are.

use rustpython_vm::compiler::ast::visitor::transformer::{self, Transformer};
use rustpython_vm::compiler::ast::visitor::{self, Visitor};
use rustpython_vm::compiler::ast::{
    AtomicNodeIndex, Comprehension, Expr, Identifier, Mod, ModModule, Parameters, Stmt, StmtAssign, StmtFunctionDef,
    StmtGlobal,
};
use rustpython_vm::compiler::codegen::compile::compile_top;
use rustpython_vm::compiler::codegen::symboltable::SymbolTable;
use rustpython_vm::compiler::core::SourceFileBuilder;
use rustpython_vm::compiler::{CompileError, Mode, parser};
use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};

/// The script as a list of `(code, is_coroutine)`, to be run in order in one namespace. The code of
/// a coroutine part defines a function named `<module>`, which is to be called and awaited. Tracebacks call the script `file`.
pub(super) fn compile(source: &str, file: &str, vm: &VirtualMachine) -> PyResult {
    let parts = match vm.compile(source, Mode::Exec, file.to_owned()) {
        Ok(code) => vec![part(code.into(), false, vm)],
        Err(error) => compile_parts(source, file, &error, vm)?,
    };
    Ok(vm.ctx.new_list(parts).into())
}

fn part(code: PyObjectRef, is_coroutine: bool, vm: &VirtualMachine) -> PyObjectRef {
    vm.ctx.new_tuple(vec![code, vm.ctx.new_bool(is_coroutine).into()]).into()
}

/// The parts of a script that plain compilation refused; `refusal` when that was not for an `await`.
fn compile_parts(source: &str, file: &str, refusal: &CompileError, vm: &VirtualMachine) -> PyResult<Vec<PyObjectRef>> {
    let raise = |error: &CompileError| vm.new_syntax_error(error, Some(source));
    if !wants_coroutine(refusal) {
        return Err(raise(refusal));
    }
    let Ok(parsed) = parser::parse_module(source) else { return Err(raise(refusal)) };
    let script = parsed.into_syntax();
    let mut parts = Vec::new();
    for (body, is_coroutine) in cut(script.body) {
        let module = ModModule { body, range: script.range, node_index: AtomicNodeIndex::NONE };
        let code = compile_part(module, is_coroutine, (source, file), vm).map_err(|error| raise(&error))?;
        parts.push(part(code, is_coroutine, vm));
    }
    Ok(parts)
}

fn wants_coroutine(error: &CompileError) -> bool {
    use rustpython_vm::compiler::codegen::error::CodegenErrorType as Kind;
    match error {
        CompileError::Codegen(error) => matches!(
            error.error,
            Kind::InvalidAwait | Kind::InvalidAsyncFor | Kind::InvalidAsyncWith | Kind::InvalidAsyncComprehension
        ),
        CompileError::Parse(_) => false,
    }
}

/// Runs of statements that do not await, and single statements that do.
fn cut(body: Vec<Stmt>) -> Vec<(Vec<Stmt>, bool)> {
    let mut parts: Vec<(Vec<Stmt>, bool)> = Vec::new();
    for statement in body {
        let awaits = awaits(&statement);
        match parts.last_mut() {
            Some((plain, false)) if !awaits => plain.push(statement),
            _ => parts.push((vec![statement], awaits)),
        }
    }
    parts
}

fn compile_part(
    mut module: ModModule,
    is_coroutine: bool,
    (source, name): (&str, &str),
    vm: &VirtualMachine,
) -> Result<PyObjectRef, CompileError> {
    let file = SourceFileBuilder::new(name, source).finish();
    if is_coroutine {
        let names = SymbolTable::scan_program(&module, file.clone())
            .map_err(|error| CompileError::from(error.into_codegen_error(name.to_owned())))?;
        module = coroutine_of(module, names.symbols.into_keys());
    }
    let code = compile_top(Mod::Module(module), file, Mode::Exec, vm.compile_opts())?;
    Ok(vm.ctx.new_code(code).into())
}

/// `async def <module>(): global …; body`, the body's names being those of the script.
fn coroutine_of(mut module: ModModule, names: impl Iterator<Item = String>) -> ModModule {
    let range = module.range;
    let identifier = |id: String| Identifier { id: id.into(), range, node_index: AtomicNodeIndex::NONE };
    let names: Vec<Identifier> = names.map(identifier).collect();
    let mut body = std::mem::take(&mut module.body);
    for statement in &mut body {
        Unannotate.visit_stmt(statement);
    }
    if !names.is_empty() {
        body.insert(0, Stmt::Global(StmtGlobal { node_index: AtomicNodeIndex::NONE, range, names }));
    }
    let function = StmtFunctionDef {
        node_index: AtomicNodeIndex::NONE,
        range,
        is_async: true,
        decorator_list: Vec::new(),
        name: identifier("<module>".into()),
        type_params: None,
        parameters: Box::new(Parameters { range, ..Parameters::default() }),
        returns: None,
        body,
    };
    ModModule { body: vec![Stmt::FunctionDef(function)], ..module }
}

/// Whether `statement` awaits outside of functions.
fn awaits(statement: &Stmt) -> bool {
    struct Search(bool);
    impl Visitor<'_> for Search {
        fn visit_stmt(&mut self, statement: &Stmt) {
            match statement {
                Stmt::FunctionDef(_) => {}
                Stmt::For(inner) if inner.is_async => self.0 = true,
                Stmt::With(inner) if inner.is_async => self.0 = true,
                _ => visitor::walk_stmt(self, statement),
            }
        }

        fn visit_expr(&mut self, expression: &Expr) {
            match expression {
                Expr::Lambda(_) => {}
                Expr::Await(_) => self.0 = true,
                _ => visitor::walk_expr(self, expression),
            }
        }

        fn visit_comprehension(&mut self, comprehension: &Comprehension) {
            self.0 |= comprehension.is_async;
            visitor::walk_comprehension(self, comprehension);
        }
    }
    let mut search = Search(false);
    search.visit_stmt(statement);
    search.0
}

/// Turns `x: int = 1` into `x = 1`: a name cannot be both annotated and global.
struct Unannotate;

impl Transformer for Unannotate {
    fn visit_stmt(&self, statement: &mut Stmt) {
        match statement {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::AnnAssign(annotated) => {
                if let Some(value) = annotated.value.take() {
                    *statement = Stmt::Assign(StmtAssign {
                        node_index: AtomicNodeIndex::NONE,
                        range: annotated.range,
                        targets: vec![(*annotated.target).clone()],
                        value,
                    });
                }
            }
            _ => transformer::walk_stmt(self, statement),
        }
    }
}
