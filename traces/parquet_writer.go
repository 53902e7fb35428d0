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

// rowsPerWrite is the number of rows that are handed over at once: one at a
// time costs a third more.
const rowsPerWrite = 512

// parquetEncoder writes Parquet, the only format that loses nothing but
// fractions of a second of a limit.
type parquetEncoder struct {
	out     *parquet.GenericWriter[any]
	columns []parquetEncoding
	rows    []parquet.Row // rowsPerWrite of them, the first n of which are filled
	n       int
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
		rows: make([]parquet.Row, rowsPerWrite),
	}
	for i := range e.rows {
		e.rows[i] = make(parquet.Row, len(parquetColumns))
	}
	for i := range parquetColumns {
		leaf, _ := schema.Lookup(parquetColumns[i].name)
		e.columns = append(e.columns, parquetEncoding{&parquetColumns[i], leaf.ColumnIndex})
	}
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
	row := e.rows[e.n]
	for _, c := range e.columns {
		v := c.get(j)
		present := 0
		if c.optional && !v.IsNull() {
			present = 1
		}
		row[c.index] = v.Level(0, present, c.index)
	}
	if e.n++; e.n == len(e.rows) {
		return e.flush()
	}
	return nil
}

func (e *parquetEncoder) flush() error {
	_, err := e.out.WriteRows(e.rows[:e.n])
	e.n = 0
	return err
}

// end implements encoder.
func (e *parquetEncoder) end() error {
	err := e.flush()
	if err == nil {
		err = e.out.Close()
	}
	if err != nil {
		return fmt.Errorf("complete the Parquet file: %w", err)
	}
	return nil
}
