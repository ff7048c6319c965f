//! `mngr list --schema`: which fields filters, columns and templates may name.

use mngr_query::{Catalog, Cell, CellStyle, Column, Table};
use serde_json::{Value, json};

use crate::ctx::Ctx;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::ui::output::{TemplateFields, event};
use crate::ui::{Console, Output, Report};

/// Shows them.
pub(super) fn run(ctx: &Ctx, catalog: &Catalog) -> Result<ExitCode, CliError> {
    let fields = Catalog::of(&["field", "type", "description"]);
    let output = Output::new(&ctx.format, TemplateFields::Of(&fields))?;
    output.show(&ctx.console, &SchemaReport { catalog })?;
    Ok(ExitCode::Done)
}

struct SchemaReport<'c> {
    catalog: &'c Catalog,
}

impl Report for SchemaReport<'_> {
    fn human(&self, console: &Console) -> String {
        let columns =
            ["FIELD", "TYPE", "DESCRIPTION"].map(|header| Column::new(header, mngr_query::Align::Left));
        let mut table = Table::new(columns.into());
        for field in self.catalog.fields() {
            let kind = Cell::new(field.kind.name(), CellStyle::Dim);
            table.push(vec![Cell::plain(&field.path), kind, Cell::plain(field.help)]);
        }
        console.table(&table)
    }

    fn json(&self) -> Value {
        json!({ "schema": self.items() })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("list_schema", self.json())]
    }

    fn items(&self) -> Vec<Value> {
        let item = |field: &mngr_query::Field| json!({ "field": field.path, "type": field.kind.name(), "description": field.help });
        self.catalog.fields().iter().map(item).collect()
    }
}
