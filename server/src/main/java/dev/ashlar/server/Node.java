package dev.ashlar.server;

import dev.ashlar.blob.Engine;
import dev.ashlar.blob.EngineConfig;
import dev.ashlar.blob.EngineMetrics;
import dev.ashlar.blob.ErasureCodes;
import dev.ashlar.blob.ErasureObjectStore;
import dev.ashlar.gateway.auth.SigV4Authenticator;
import dev.ashlar.gateway.http.ByteBudget;
import dev.ashlar.gateway.http.HttpConfig;
import dev.ashlar.gateway.http.S3Server;
import dev.ashlar.gateway.http.Transport;
import dev.ashlar.gateway.operation.S3Service;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.metadata.server.MetadataServer;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.storage.drive.DriveResources;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.annotation.Context;
import jakarta.annotation.PreDestroy;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All roles of this process, opened in the order in which they need each other and closed in the
 * opposite one: metadata, drives, engine, S3 port.
 */
@Context
final class Node {
  private static final Logger LOG = LoggerFactory.getLogger(Node.class);

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final LocalDrives drives;
  private final StartMessage startMessage;

  Node(ServerOptions options, MeterRegistry meters) throws Exception {
    try {
      Clock clock = Clock.systemUTC();
      SlabPool slabs = new SlabPool();
      Gauge.builder("ashlar.slabs.allocated", slabs, SlabPool::allocatedBytes)
          .baseUnit("bytes")
          .register(meters);
      Gauge.builder("ashlar.slabs.lent", slabs, SlabPool::lentBytes)
          .baseUnit("bytes")
          .register(meters);
      DriveResources resources =
          opened(new DriveResources(slabs, meters, clock, DriveResources.Budget.DEFAULT));
      Path home = options.metadataFolders().get(0);
      ClusterIdentity identity = ClusterIdentity.load(options.metadataFolders());
      MetadataServer metadata = opened(openMetadata(options, identity, resources, meters, clock));
      MetadataClient client = metadata.client();
      drives =
          opened(new LocalDrives(options, identity.cluster(), client.drives().keySet(), resources));
    } catch (Exception e) {
      close();
      throw e;
    }
  }
}
