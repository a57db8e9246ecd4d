package dev.ashlar.server.admin;

import dev.ashlar.gateway.audit.AuditLog;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.server.config.RootCredential;
import dev.ashlar.transport.tls.PortTls;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import org.jspecify.annotations.Nullable;

/** A running server: all roles in one process, or some roles of a cluster. */
public interface RunningServer {
  /** Of the container's configuration: which form it is to make. */
  String PROPERTY = "ashlar.form";

  String EMBEDDED = "embedded";
  String CLUSTER = "cluster";

  /** What {@code /health} answers. */
  sealed interface HealthPage permits Health, ClusterHealth {
    Health.Status status();

    /** For how many objects reads are served; null if this process serves no objects. */
    Health.@Nullable Extent reads();

    /** For how many objects writes are served; null if this process serves no objects. */
    Health.@Nullable Extent writes();

    /** Whether anything can be read. */
    default boolean servesReads() {
      return reads() == Health.Extent.ALL || reads() == Health.Extent.SOME;
    }

    /** Whether everything can be written. */
    default boolean servesAllWrites() {
      return writes() == Health.Extent.ALL;
    }
  }

  HealthPage health();

  /** How far the drives of this process are with looking after what they hold. */
  ScrubPage scrub();

  /** Has them begin that at once. */
  void startScrub();

  /** What {@code /admin} tells and does; null where that is another process's business. */
  @Nullable Admin admin();

  /**
   * The bytes of a backup of metadata, to be closed by the caller.
   *
   * @throws Admin.RefusedException when that is the business of another process; the message says
   *     of which
   */
  InputStream backUpMetadata()
      throws MetadataUnavailableException, Admin.RefusedException, IOException;

  /** The access key that may do everything; null where this process does not know it. */
  @Nullable RootCredential root();

  /** TLS of the S3 port and the management port; null: none. */
  @Nullable PortTls tls();

  /** The audit log; null: none. */
  @Nullable AuditLog audit();

  /** Tells the user that it is ready, and how to use it. */
  void printStarted(PrintStream out, boolean terminal);
}
