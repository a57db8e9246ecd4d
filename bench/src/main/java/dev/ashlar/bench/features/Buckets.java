package dev.ashlar.bench.features;

import dev.ashlar.bench.load.DataSet;
import dev.ashlar.bench.load.Kind;
import dev.ashlar.bench.load.LoadRun;
import dev.ashlar.bench.load.Operation;
import dev.ashlar.bench.load.ServerOptions;
import dev.ashlar.bench.load.Work;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** The buckets that are compared, on one server. */
final class Buckets implements AutoCloseable {
  /** A page of a listing, and the objects of all buckets but the large ones. */
  static final int PAGE_KEYS = 1000;

  static final long OBJECT_BYTES = 4096;

  private static final String VERSIONING =
      "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";

  private static final String ENCRYPTION =
      "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault>"
          + "<SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule>"
          + "</ServerSideEncryptionConfiguration>";

  private final ServerOptions.Loaded server;
  private final LoadRun.Client client;
  private final List<LoadRun> opened = new ArrayList<>();

  Buckets(ServerOptions.Loaded server, LoadRun.Client client) {
    this.server = server;
    this.client = client;
  }

  /** Without objects. */
  LoadRun empty(String name) throws IOException, InterruptedException {
    DataSet data = new DataSet(PAGE_KEYS, OBJECT_BYTES);
    LoadRun run = new LoadRun(server.withBucket(name), client, data);
    opened.add(run);
    return run;
  }

  /** With so many versions of each of a page's keys; with one, a bucket without versioning. */
  LoadRun versions(String name, int versions) throws IOException, InterruptedException {
    LoadRun run = empty(name);
    if (versions > 1) {
      run.configure("versioning=", VERSIONING);
    }
    run.fill(puts((long) PAGE_KEYS * versions, number -> key((int) (number % PAGE_KEYS)), 1));
    return run;
  }

  /** With so many objects of this size. */
  LoadRun objects(String name, int objects, long bytes) throws IOException, InterruptedException {
    LoadRun run = empty(name);
    run.fill(puts(objects, number -> key((int) number), bytes));
    return run;
  }

  /** The same, encrypted with SSE-S3. */
  LoadRun encrypted(String name, int objects, long bytes) throws IOException, InterruptedException {
    LoadRun run = empty(name);
    run.configure("encryption=", ENCRYPTION);
    run.fill(puts(objects, number -> key((int) number), bytes));
    return run;
  }

  /** With a policy of full size. */
  LoadRun policy(String name) throws IOException, InterruptedException {
    LoadRun run = versions(name, 1);
    run.configure("policy=", PolicyOfFullSize.of(name));
    return run;
  }

  /** With so many keys in as many folders as a page has keys. */
  LoadRun folders(String name, long keys) throws IOException, InterruptedException {
    LoadRun run = empty(name);
    run.fill(puts(keys, number -> key((int) (number % PAGE_KEYS)) + "/" + number / PAGE_KEYS, 1));
    return run;
  }

  static String key(int number) {
    return "object-%03d".formatted(number);
  }

  private interface Naming {
    String key(long number);
  }

  private static Work puts(long objects, Naming naming, long bytes) {
    AtomicLong next = new AtomicLong();
    return connection -> {
      long number = next.getAndIncrement();
      return number < objects
          ? new Operation(Kind.WRITE, naming.key(number), Operation.WHOLE, bytes)
          : null;
    };
  }

  @Override
  public void close() {
    opened.forEach(LoadRun::close);
  }
}
