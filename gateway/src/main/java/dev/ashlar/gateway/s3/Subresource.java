package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.s3.RequestTarget.Scope;
import dev.ashlar.gateway.uri.Query;
import dev.ashlar.gateway.xml.XmlWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The query parameters that make a request another operation than the plain one on its bucket or
 * object, with the methods that they have in S3 and those of them that Ashlar serves.
 *
 * <p>A request with such a parameter is never taken for the plain operation: that would, say,
 * replace an object by the document that was to configure it. Parameters that are not listed here
 * are ignored, as in S3.
 */
public final class Subresource {
  private static final Map<String, Map<Scope, Subresource>> BY_LOWER_CASE_NAME =
      byName(
          // Served.
          bucket("acl", "GET PUT"),
          object("acl", "GET PUT"),
          object("append", "PUT POST"),
          object("attributes", "GET"),
          bucket("cors", "GET PUT DELETE"),
          bucket("delete", "POST"),
          bucket("encryption", "GET PUT DELETE"),
          object("encryption", "PUT"),
          bucket("lifecycle", "GET PUT DELETE"),
          bucket("list-type", "GET"),
          bucket("location", "GET"),
          object("legal-hold", "GET PUT"),
          bucket("object-lock", "GET PUT"),
          object("renameObject", "PUT"),
          object("retention", "GET PUT"),
          bucket("tagging", "GET PUT DELETE"),
          object("tagging", "GET PUT DELETE"),
          bucket("ownershipControls", "GET PUT DELETE"),
          bucket("policy", "GET PUT DELETE"),
          bucket("policyStatus", "GET"),
          bucket("publicAccessBlock", "GET PUT DELETE"),
          bucket("logging", "GET PUT"),
          bucket("notification", "GET PUT"),
          bucket("requestPayment", "GET PUT"),
          bucket("uploads", "GET"),
          object("uploads", "POST"),
          object("uploadId", "GET PUT POST DELETE"),
          bucket("versioning", "GET PUT"),
          bucket("versions", "GET"),
          bucket("website", "GET PUT DELETE"),
          // Parameters of an operation that another parameter or the method has chosen.
          object("partNumber", "GET HEAD PUT").detail(),
          object("versionId", "GET HEAD PUT POST PATCH DELETE").detail(),
          // Reading them is answered as S3 answers where they were never configured.
          bucket("accelerate", "GET PUT")
              .unconfigured(
                  "GetBucketAccelerateConfiguration",
                  "s3:GetAccelerateConfiguration",
                  empty("AccelerateConfiguration")),
          bucket("replication", "GET PUT DELETE")
              .unconfigured(
                  "GetBucketReplication",
                  "s3:GetReplicationConfiguration",
                  S3Error.REPLICATION_CONFIGURATION_NOT_FOUND),
          // S3 lists or returns these by id, which is part of the feature: nothing truthful to
          // answer.
          bucket("abac", "GET PUT").notImplemented(),
          bucket("analytics", "GET PUT DELETE").notImplemented(),
          bucket("intelligent-tiering", "GET PUT DELETE").notImplemented(),
          bucket("inventory", "GET PUT DELETE").notImplemented(),
          bucket("metadataConfiguration", "GET POST DELETE").notImplemented(),
          bucket("metadataTable", "GET POST DELETE").notImplemented(),
          bucket("metadataAnnotationTable", "PUT").notImplemented(),
          bucket("metadataInventoryTable", "PUT").notImplemented(),
          bucket("metadataJournalTable", "PUT").notImplemented(),
          bucket("metrics", "GET PUT DELETE").notImplemented(),
          bucket("session", "GET").notImplemented(),
          object("annotation", "GET PUT DELETE").notImplemented(),
          object("restore", "POST").notImplemented(),
          object("select", "POST").notImplemented(),
          object("select-type", "POST").notImplemented(),
          object("torrent", "GET").notImplemented(S3Error.TORRENTS_RETIRED),
          service("max-directory-buckets", "GET").notImplemented(),
          // MinIO's own.
          service("events", "GET").notImplemented(),
          bucket("events", "GET").notImplemented(),
          object("lambdaArn", "GET").notImplemented(),
          bucket("replication-check", "GET").notImplemented(),
          bucket("replication-metrics", "GET").notImplemented(),
          bucket("replication-reset", "PUT").notImplemented(),
          bucket("replication-reset-status", "GET").notImplemented());

  private enum Kind {
    /** Every method has an operation here. */
    SERVED,
    /** Chooses no operation. */
    DETAIL,
    /** GET is answered as never configured; the other methods are not implemented. */
    UNCONFIGURED,
    NOT_IMPLEMENTED
  }

  private final String parameter;
  private final Scope scope;
  private final List<String> methods;
  private final Kind kind;
  private final @Nullable Unconfigured unconfigured;
  private final S3Error unserved;

  /**
   * A feature that was never configured.
   *
   * @param operation that reads it, as S3's API calls it
   * @param readAction what reading it needs
   * @param document that S3 answers; empty when it answers an error
   */
  public record Unconfigured(
      String operation, String readAction, String document, @Nullable S3Error error) {
    /** What S3 answers: a document or an error. */
    public byte[] read() throws S3Exception {
      if (error != null) {
        throw new S3Exception(error);
      }
      return document.getBytes(StandardCharsets.UTF_8);
    }
  }

  private Subresource(
      String parameter,
      Scope scope,
      List<String> methods,
      Kind kind,
      @Nullable Unconfigured unconfigured,
      S3Error unserved) {
    this.parameter = parameter;
    this.scope = scope;
    this.methods = methods;
    this.kind = kind;
    this.unconfigured = unconfigured;
    this.unserved = unserved;
  }

  private static Subresource service(String parameter, String methods) {
    return served(parameter, Scope.SERVICE, methods);
  }

  private static Subresource bucket(String parameter, String methods) {
    return served(parameter, Scope.BUCKET, methods);
  }

  private static Subresource object(String parameter, String methods) {
    return served(parameter, Scope.OBJECT, methods);
  }

  private static Subresource served(String parameter, Scope scope, String methods) {
    return new Subresource(
        parameter,
        scope,
        List.of(methods.split(" ", -1)),
        Kind.SERVED,
        null,
        S3Error.NOT_IMPLEMENTED);
  }

  private Subresource detail() {
    return new Subresource(parameter, scope, methods, Kind.DETAIL, null, unserved);
  }

  private Subresource notImplemented() {
    return notImplemented(S3Error.NOT_IMPLEMENTED);
  }

  private Subresource notImplemented(S3Error answer) {
    return new Subresource(parameter, scope, methods, Kind.NOT_IMPLEMENTED, null, answer);
  }

  private Subresource unconfigured(String operation, String readAction, S3Error error) {
    return unconfigured(new Unconfigured(operation, readAction, "", error));
  }

  private Subresource unconfigured(String operation, String readAction, XmlWriter document) {
    return unconfigured(new Unconfigured(operation, readAction, document.toText(), null));
  }

  private Subresource unconfigured(Unconfigured feature) {
    return new Subresource(parameter, scope, methods, Kind.UNCONFIGURED, feature, unserved);
  }

  private static XmlWriter empty(String root) {
    return new XmlWriter().openRoot(root).close();
  }

  private static Map<String, Map<Scope, Subresource>> byName(Subresource... all) {
    Map<String, Map<Scope, Subresource>> byName = new HashMap<>();
    for (Subresource subresource : all) {
      byName
          .computeIfAbsent(
              subresource.parameter.toLowerCase(Locale.ROOT), name -> new EnumMap<>(Scope.class))
          .put(subresource.scope, subresource);
    }
    return byName;
  }

  /** Whether a parameter with this name, in any case, chooses an operation or a part of one. */
  public static boolean isName(String parameter) {
    return BY_LOWER_CASE_NAME.containsKey(parameter.toLowerCase(Locale.ROOT));
  }

  /**
   * What the operation that the query chooses answers if its feature was never configured; null for
   * operations that are served otherwise.
   *
   * @throws S3Exception when S3 has no such operation, Ashlar does not serve it, or the query
   *     chooses several
   */
  static @Nullable Unconfigured check(Query query, Scope scope, String method) throws S3Exception {
    if (query.isEmpty()) {
      return null;
    }
    Subresource chosen = null;
    List<Subresource> seen = new ArrayList<>(2);
    for (int i = 0; i < query.size(); i++) {
      Subresource subresource = of(query.name(i), scope, method);
      if (subresource != null) {
        boolean isChoice = subresource.kind != Kind.DETAIL;
        if (seen.contains(subresource) || (isChoice && chosen != null)) {
          throw conflict(subresource, chosen);
        }
        seen.add(subresource);
        chosen = isChoice ? subresource : chosen;
      }
    }
    return chosen == null ? null : chosen.unconfigured;
  }

  /** Null for a parameter that chooses nothing. */
  private static @Nullable Subresource of(String name, Scope scope, String method)
      throws S3Exception {
    Map<Scope, Subresource> byScope = BY_LOWER_CASE_NAME.get(name.toLowerCase(Locale.ROOT));
    if (byScope == null) {
      return null;
    }
    Subresource subresource = byScope.get(scope);
    if (subresource == null || !subresource.methods.contains(method)) {
      throw S3RequestParser.methodNotAllowed(method, name.toUpperCase(Locale.ROOT));
    }
    // S3 is case-sensitive, but another spelling hardly means the plain operation.
    if (!subresource.parameter.equals(name) || !subresource.isServed(method)) {
      throw new S3Exception(subresource.unserved);
    }
    return subresource;
  }

  private boolean isServed(String method) {
    return switch (kind) {
      case SERVED, DETAIL -> true;
      case UNCONFIGURED -> method.equals("GET");
      case NOT_IMPLEMENTED -> false;
    };
  }

  private static S3Exception conflict(Subresource one, @Nullable Subresource other) {
    String first = other == null ? one.parameter : other.parameter;
    return S3Exception.invalidArgument(
        "Conflicting query string parameters: " + first + ", " + one.parameter,
        "ResourceType",
        one.parameter);
  }
}
