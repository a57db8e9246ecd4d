package dev.ashlar.metadata.server;

import dev.ashlar.metadata.consensus.MetadataConfig;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/** Measures commits: {@code CommitLoad FOLDER PEERS IN_FLIGHT SECONDS}. */
public final class CommitLoad {
  private CommitLoad() {}

  public static void main(String[] args) throws Exception {
    int peers = Integer.parseInt(args[1]);
    int seconds = Integer.parseInt(args[3]);
    List<Path> folders =
        IntStream.rangeClosed(1, peers).mapToObj(i -> Path.of(args[0], "m" + i)).toList();
    try (TestResources resources = new TestResources();
        MetadataServer server =
            MetadataServer.open(
                new MetadataConfig(
                    folders, UUID.randomUUID(), resources.get(), new SimpleMeterRegistry()))) {
      MetadataClient client = server.client();
      client.submit(
          Command.newBuilder()
              .setPutDrives(
                  MemoryMetadata.drives(
                      new Profile(4, 2, 16384), MemoryMetadata.sequentialIds(6), 256)));
      client.submit(
          Command.newBuilder()
              .setCreateBucket(CreateBucket.newBuilder().setName("b").setOwner("me")));
      System.out.println("idle resident MiB " + residentMiB());
      for (String inFlight : args[2].split(",", -1)) {
        run(client, Integer.parseInt(inFlight), seconds / 2); // warm
        run(client, Integer.parseInt(inFlight), seconds);
        System.out.println("  resident MiB " + residentMiB());
      }
    }
    System.exit(0);
  }

  private static long residentMiB() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("VmRSS"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
        .sum();
  }

  private static final AtomicLong SEQUENCE = new AtomicLong();

  private static void run(MetadataClient client, int inFlight, int seconds) throws Exception {
    var os =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    AtomicLong done = new AtomicLong();
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    CountDownLatch finished = new CountDownLatch(inFlight);
    long cpu = os.getProcessCpuTime();
    long start = System.nanoTime();
    for (int i = 0; i < inFlight; i++) {
      Thread.ofVirtual()
          .start(
              () -> {
                try {
                  while (System.nanoTime() < end) {
                    CommandResult result = client.submit(put(client, SEQUENCE.getAndIncrement()));
                    if (result.getCode() != ResultCode.OK) {
                      throw new IllegalStateException(result.toString());
                    }
                    done.incrementAndGet();
                  }
                } catch (MetadataUnavailableException e) {
                  throw new IllegalStateException(e);
                } finally {
                  finished.countDown();
                }
              });
    }
    finished.await();
    double elapsed = (System.nanoTime() - start) / 1e9;
    System.out.printf(
        "in flight %d: %.0f commits/s, %.1f us CPU per command%n",
        inFlight, done.get() / elapsed, (os.getProcessCpuTime() - cpu) / 1e3 / done.get());
  }

  private static Command.Builder put(MetadataClient client, long sequence) {
    BlobId id = new BlobId(client.session(), sequence);
    PlacementMap map = client.placement();
    int pg = map.group(id).orElseThrow();
    NewBlob.Builder blob =
        NewBlob.newBuilder()
            .setId(id.toMessage())
            .setLength(65536)
            .setProfile(map.profile(pg).toMessage())
            .setPg(pg)
            .setEpoch(map.epoch());
    for (int slot = 0; slot < map.profile(pg).shards(); slot++) {
      UUID drive = map.drive(pg, slot);
      blob.addAcks(
          SlotAck.newBuilder()
              .setSlot(slot)
              .setDriveHigh(drive.getMostSignificantBits())
              .setDriveLow(drive.getLeastSignificantBits())
              .setIncarnation(1));
    }
    return Command.newBuilder()
        .setPutObject(
            PutObject.newBuilder()
                .setBucket("b")
                .setKey("some/prefix/object-" + sequence)
                .setSummary(
                    ObjectSummary.newBuilder()
                        .setSize(65536)
                        .setOwner("0123456789abcdef")
                        .setEtag("d41d8cd98f00b204e9800998ecf8427e"))
                .addBlobs(blob));
  }
}
