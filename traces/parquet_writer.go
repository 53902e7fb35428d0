package traces

import (
	"bufio"
	"fmt"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/segue-project/segue"
)

// rowsPerGroup bounds what the writer holds in memory before it writes: about
// 20 MB.
const rowsPerGroup = 1 << 17

// parquetEncoder writes Parquet, the only format that loses nothing but
// fractions of a second of a limit.
type parquetEncoder struct {
	out     *parquet.GenericWriter[any]
	columns []parquetEncoding
	row     parquet.Row
	rows    []parquet.Row
}

// parquetEncoding is a column at its place in the schema.
type parquetEncoding struct {
	*parquetColumn
	index int
}

func newParquetEncoder(out *bufio.Writer, head Header) *parquetEncoder {
	schema := parquetSchema()
	e := &parquetEncoder{
		out: parquet.NewGenericWriter[any](
			out, schema, parquet.Compression(&zstd.Codec{Level: zstd.SpeedDefault}), parquet.MaxRowsPerRowGroup(rowsPerGroup),
			parquet.CreatedBy("segue", "", ""),
		),
		row: make(parquet.Row, len(parquetColumns)),
	}
	for i := range parquetColumns {
		leaf, _ := schema.Lookup(parquetColumns[i].name)
		e.columns = append(e.columns, parquetEncoding{&parquetColumns[i], leaf.ColumnIndex})
	}
	e.rows = []parquet.Row{e.row}
	for key, value := range map[string]string{
		"computer": head.Computer, "installation": head.Installation, "zone": head.Zone,
		"max_nodes": positive(head.MaxNodes), "max_procs": positive(head.MaxProcs),
	} {
		if value != "" {
			e.out.SetKeyValueMetadata("segue."+key, value)
		}
	}
	if head.UnixStart.Known() && head.UnixStart != 0 {
		e.out.SetKeyValueMetadata("segue.unix_start", strconv.FormatInt(head.UnixStart.Unix(), 10))
	}
	return e
}

// begin implements encoder.
func (e *parquetEncoder) begin() error { return nil }

// write implements encoder.
func (e *parquetEncoder) write(j *segue.Job, lost losses) error {
	lost.add(j.Limit > 0 && j.Limit != segue.Unlimited && j.Limit%1e9 != 0, "fractions of seconds")
	for _, c := range e.columns {
		v := c.get(j)
		present := 0
		if c.optional && !v.IsNull() {
			present = 1
		}
		e.row[c.index] = v.Level(0, present, c.index)
	}
	_, err := e.out.WriteRows(e.rows)
	return err
}

// end implements encoder.
func (e *parquetEncoder) end() error {
	if err := e.out.Close(); err != nil {
		return fmt.Errorf("complete the Parquet file: %w", err)
	}
	return nil
}
