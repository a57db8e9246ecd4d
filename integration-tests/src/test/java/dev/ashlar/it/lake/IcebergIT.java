package dev.ashlar.it.lake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.avro.Avro;
import org.apache.iceberg.aws.s3.S3FileIO;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.data.avro.PlannedDataReader;
import org.apache.iceberg.exceptions.ForbiddenException;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.DataWriter;
import org.apache.iceberg.io.FileInfo;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Iceberg's tables and file access with a REST catalogue that lends sessions: a client does its
 * work with the session of a table, and nothing beyond that table.
 */
@ExtendWith(SharedServer.class)
class IcebergIT {
  private static final Schema SCHEMA =
      new Schema(
          Types.NestedField.required(1, "id", Types.LongType.get()),
          Types.NestedField.required(2, "text", Types.StringType.get()));

  private final long seed = Seeds.seed("IcebergIT");
  private final S3Client s3;
  private final SessionVendor vendor;
  private final RestCatalogueServer server;
  private final RESTCatalog catalogue = new RESTCatalog();

  IcebergIT(ServerProcess store) throws IOException {
    s3 = Clients.sync(store);
    String bucket = Buckets.create(s3, "lake");
    vendor = new SessionVendor(store, bucket);
    server = new RestCatalogueServer(vendor, bucket);
    catalogue.initialize(
        "rest",
        Map.of(
            "uri",
            server.uri().toString(),
            "io-impl",
            "org.apache.iceberg.aws.s3.S3FileIO",
            "header.X-Iceberg-Access-Delegation",
            "vended-credentials"));
    catalogue.createNamespace(Namespace.of("lake"));
  }

  @AfterAll
  void close() throws IOException {
    catalogue.close();
    server.close();
    vendor.close();
    s3.close();
  }

  private Table create(String name) {
    return catalogue.createTable(TableIdentifier.of("lake", name), SCHEMA);
  }

  private Record row(long id, int bytes) {
    Record row = GenericRecord.create(SCHEMA);
    row.setField("id", id);
    row.setField("text", Base64.getEncoder().encodeToString(new Content(seed + id, bytes).bytes()));
    return row;
  }

  /** A committed file of so many rows. */
  private DataFile append(Table table, String name, long first, int rows, int rowBytes)
      throws IOException {
    String path = table.locationProvider().newDataLocation(name + ".avro");
    DataWriter<Record> writer =
        Avro.writeData(table.io().newOutputFile(path))
            .forTable(table)
            .createWriterFunc(org.apache.iceberg.data.avro.DataWriter::create)
            .build();
    try (writer) {
      for (long id = first; id < first + rows; id++) {
        writer.write(row(id, rowBytes));
      }
    }
    DataFile file = writer.toDataFile();
    table.newAppend().appendFile(file).commit();
    return file;
  }

  private List<Record> rows(Table table) throws IOException {
    List<Record> rows = new ArrayList<>();
    try (CloseableIterable<FileScanTask> tasks = table.newScan().planFiles()) {
      for (FileScanTask task : tasks) {
        try (CloseableIterable<Record> read =
            Avro.read(table.io().newInputFile(task.file().location()))
                .project(SCHEMA)
                .createResolvingReader(PlannedDataReader::create)
                .build()) {
          read.forEach(rows::add);
        }
      }
    }
    return rows;
  }

  private static List<String> files(S3FileIO io, String location) {
    return StreamSupport.stream(io.listPrefix(location).spliterator(), false)
        .map(FileInfo::location)
        .toList();
  }

  @Test
  void tablesAreWrittenReadExpiredAndPurged() throws IOException {
    Table table = create("events");
    DataFile small = append(table, "small", 0, 10, 100);
    append(table, "large", 10, 200, 60_000);
    Table again = catalogue.loadTable(TableIdentifier.of("lake", "events"));
    List<Record> rows = rows(again);
    assertEquals(210, rows.size());
    for (Record row : rows) {
      long id = (Long) row.getField("id");
      assertEquals(row(id, id < 10 ? 100 : 60_000), row);
    }
    again.newDelete().deleteFile(small).commit();
    append(again, "last", 210, 1, 100);
    again.expireSnapshots().expireOlderThan(Long.MAX_VALUE).retainLast(1).commit();
    S3FileIO io = (S3FileIO) again.io();
    assertFalse(files(io, again.location() + "/").contains(small.location()));
    assertEquals(201, rows(again).size());
    TableOperations operations = ((HasTableOperations) again).operations();
    CatalogUtil.dropTableData(io, operations.current());
    io.deletePrefix(again.location() + "/");
    assertEquals(List.of(), files(io, again.location() + "/"));
  }

  @Test
  void aTablesSessionReachesNoOtherTable() throws IOException {
    Table mine = create("mine");
    Table other = create("mine2");
    DataFile file = append(other, "rows", 0, 3, 50);
    S3FileIO io = (S3FileIO) mine.io();
    assertForbidden(() -> read(io, file.location()));
    assertForbidden(() -> io.newInputFile(file.location()).exists());
    assertForbidden(() -> write(io, other.location() + "/data/x"));
    assertForbidden(() -> write(io, other.location().replace("/mine2", "/x")));
    assertForbidden(() -> io.deleteFile(file.location()));
    assertForbidden(() -> files(io, other.location() + "/"));
    assertForbidden(() -> files(io, other.location()));
    assertForbidden(() -> io.deletePrefix(other.location() + "/"));
    assertEquals(3, rows(other).size());
    write(io, mine.location() + "/data/x");
    assertTrue(files(io, mine.location() + "/").contains(mine.location() + "/data/x"));
  }

  @Test
  void readersDoNotWrite() throws IOException {
    Table table = create("read");
    DataFile file = append(table, "rows", 0, 3, 50);
    try (S3FileIO io = new S3FileIO()) {
      io.initialize(vendor.forTable(table.location(), false));
      assertEquals(file.fileSizeInBytes(), read(io, file.location()));
      assertForbidden(() -> write(io, table.location() + "/data/x"));
      assertForbidden(() -> io.deleteFile(file.location()));
      assertEquals(3, rows(table).size());
    }
  }

  private interface Call {
    void run() throws IOException;
  }

  private static void assertForbidden(Call call) {
    Exception e = assertThrows(Exception.class, call::run);
    Throwable cause = e;
    while (cause.getCause() != null && !(cause instanceof S3Exception)) {
      cause = cause.getCause();
    }
    boolean isForbidden =
        cause instanceof ForbiddenException
            || (cause instanceof S3Exception failure && failure.statusCode() == 403);
    assertTrue(isForbidden, () -> "not refused as forbidden: " + e);
  }

  private static long read(S3FileIO io, String location) throws IOException {
    try (InputStream in = io.newInputFile(location).newStream()) {
      return in.transferTo(OutputStream.nullOutputStream());
    }
  }

  private static void write(S3FileIO io, String location) throws IOException {
    try (OutputStream out = io.newOutputFile(location).createOrOverwrite()) {
      out.write(new byte[100]);
    }
  }
}
