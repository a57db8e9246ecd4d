package dev.ashlar.server.config;

import static dev.ashlar.server.config.OptionTypes.require;

import dev.ashlar.gateway.s3.AnswerStyle;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.gateway.s3.S3Config.NewBuckets;
import dev.ashlar.server.config.PortAddress.Scheme;
import dev.ashlar.transport.Transport;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** The S3 port and the management port. */
public final class ServiceOptions {
  private static final int FAILURES_MAX = 1_000_000;

  @Option(
      names = "--listen",
      paramLabel = "ADDRESS",
      split = ",",
      converter = OptionTypes.Address.class,
      defaultValue = "127.0.0.1:9000",
      description =
          "Addresses of the S3 port: HOST:PORT, http://HOST:PORT or https://HOST:PORT. Without a"
              + " scheme: TLS if there is a --tls-cert.")
  private List<PortAddress> listen = List.of();

  @Option(
      names = "--management-listen",
      paramLabel = "ADDRESS",
      split = ",",
      converter = OptionTypes.Address.class,
      defaultValue = "127.0.0.1:9001",
      description =
          "Addresses of the management port, likewise: /health, /prometheus, /admin and /scrub.")
  private List<PortAddress> managementListen = List.of();

  @Option(
      names = "--domain",
      paramLabel = "HOST",
      split = ",",
      defaultValue = "localhost",
      description = "Host names for virtual-host-style requests (BUCKET.HOST).")
  private List<String> domains = List.of();

  @Option(
      names = "--website-domain",
      paramLabel = "HOST",
      split = ",",
      showDefaultValue = Visibility.NEVER,
      description =
          "Host names of websites: BUCKET.HOST serves the website of BUCKET, HOST itself that of the"
              + " bucket HOST.")
  private List<String> websiteDomains = List.of();

  @Option(
      names = "--region",
      paramLabel = "NAME",
      defaultValue = S3Config.CLASSIC_REGION,
      description = "Region that requests must be signed for.")
  private String region = "";

  @Option(
      names = "--any-region",
      arity = "0..1",
      fallbackValue = "true",
      showDefaultValue = Visibility.NEVER,
      description =
          "Serve requests that are signed for other regions than --region, and create buckets that"
              + " are asked for in them.")
  private @Nullable Boolean acceptsAnyRegion;

  @Option(
      names = "--signature-v2",
      arity = "0..1",
      fallbackValue = "true",
      defaultValue = "false",
      showDefaultValue = Visibility.NEVER,
      description =
          "Accept AWS Signature Version 2, too. It does not cover bodies and relies on SHA-1: only"
              + " for clients that know no other.")
  private boolean acceptsSignatureV2;

  @Option(
      names = "--auth-failures-per-minute",
      paramLabel = "COUNT",
      defaultValue = "100",
      description =
          "Requests with wrong credentials of one address (of IPv6: of one /64) that are looked at in a"
              + " minute; further ones with credentials that have not succeeded from there are"
              + " answered 503. 0: no limit.")
  private int authFailuresPerMinute;

  @Option(
      names = "--transport",
      paramLabel = "NAME",
      defaultValue = "epoll",
      description = "Network I/O: epoll, io_uring or nio.")
  private Transport transport = Transport.EPOLL;

  @Option(
      names = "--accounts",
      paramLabel = "FILE",
      showDefaultValue = Visibility.NEVER,
      description =
          "JSON file with accounts that exist from the start on: a list of objects with id, name,"
              + " accessKey, secretKey and, if wanted, email and canonicalId.")
  private @Nullable Path accounts;

  @Option(
      names = "--event-targets",
      paramLabel = "FILE",
      showDefaultValue = Visibility.NEVER,
      description =
          "JSON file with the targets that buckets may notify of events: webhooks, Kafka, NATS and"
              + " AMQP. It has their secrets. The same file at every gateway.")
  private @Nullable Path eventTargets;

  @Option(
      names = "--new-buckets",
      paramLabel = "HOW",
      defaultValue = "open",
      description =
          "How buckets are created: open (ACLs count, nothing public is blocked) or enforced (the"
              + " owner of the bucket owns all objects, all public access is blocked).")
  private NewBuckets newBuckets = NewBuckets.OPEN;

  @Option(
      names = "--answers",
      paramLabel = "SERVICE",
      defaultValue = "s3",
      description =
          "Service whose answers are given where Amazon S3 and Ceph's radosgw differ: s3, or"
              + " radosgw for clients that were written for it.")
  private AnswerStyle answers = AnswerStyle.S3;

  /**
   * Gives every address a scheme.
   *
   * @param hasCertificate for TLS
   * @param isGateway whether the S3 port is served
   * @throws IllegalArgumentException naming the option that is wrong
   */
  void check(boolean hasCertificate, boolean isGateway) {
    require(
        authFailuresPerMinute >= 0 && authFailuresPerMinute <= FAILURES_MAX,
        "--auth-failures-per-minute takes 0 to %s, not %s",
        FAILURES_MAX,
        authFailuresPerMinute);
    for (String domain : websiteDomains()) {
      require(
          !domain.isEmpty() && domains.stream().noneMatch(of -> isWithin(of, domain)),
          "--website-domain takes host names that no --domain is or is below, not '%s'",
          domain);
    }
    if (isGateway) {
      listen = resolved("--listen", listen, hasCertificate);
    }
    managementListen = resolved("--management-listen", managementListen, hasCertificate);
  }

  private static boolean isWithin(String host, String domain) {
    return ("." + host.toLowerCase(Locale.ROOT)).endsWith("." + domain);
  }

  private static List<PortAddress> resolved(
      String option, List<PortAddress> given, boolean hasCertificate) {
    require(!given.isEmpty(), "%s names no address", option);
    List<PortAddress> resolved = new ArrayList<>();
    for (PortAddress each : given) {
      require(
          hasCertificate || !each.isTls(),
          "%s %s needs a certificate: name one with --tls-cert and --tls-key",
          option,
          each);
      resolved.add(each.orElse(hasCertificate ? Scheme.HTTPS : Scheme.HTTP));
    }
    return List.copyOf(resolved);
  }

  /** Addresses of the S3 port of a gateway: at least one, each with a scheme. */
  public List<PortAddress> listen() {
    return listen;
  }

  /** Whether only this machine reaches the S3 port. */
  boolean listensOnLoopback() {
    return listen.stream().allMatch(PortAddress::isLoopback);
  }

  /** Addresses of the management port, likewise. */
  public List<PortAddress> managementListen() {
    return managementListen;
  }

  public List<String> domains() {
    return domains;
  }

  /** Hosts of websites, in lower case. */
  public List<String> websiteDomains() {
    return websiteDomains.stream().map(each -> each.toLowerCase(Locale.ROOT)).toList();
  }

  public String region() {
    return region;
  }

  /** Whether requests may be signed for any region. */
  public boolean acceptsAnyRegion() {
    return Boolean.TRUE.equals(acceptsAnyRegion);
  }

  /** Clients of MinIO may sign for any region, and look buckets up in the classic one. */
  void serveAsMinio() {
    if (acceptsAnyRegion == null) {
      acceptsAnyRegion = true;
    }
  }

  /** Whether requests may be signed with version 2. */
  public boolean acceptsSignatureV2() {
    return acceptsSignatureV2;
  }

  /** Failed attempts to authenticate that an address has in a minute; 0: without limit. */
  public int authFailuresPerMinute() {
    return authFailuresPerMinute;
  }

  /** File with accounts; null: none is given. */
  public @Nullable Path accounts() {
    return accounts;
  }

  /** File with targets of events; null: buckets can notify nobody. */
  public @Nullable Path eventTargets() {
    return eventTargets;
  }

  public NewBuckets newBuckets() {
    return newBuckets;
  }

  /** As which service requests are answered. */
  public AnswerStyle answers() {
    return answers;
  }

  public Transport transport() {
    return transport;
  }
}
