package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.access.policy.decision.Decision;
import dev.ashlar.gateway.audit.AuditEvent;
import dev.ashlar.gateway.error.Denial;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.s3.DeleteConditions;
import dev.ashlar.gateway.s3.Etags;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.gateway.xml.XmlReader;
import dev.ashlar.gateway.xml.XmlReader.Element;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.DeleteResult;
import dev.ashlar.protocol.message.DeleteTarget;
import dev.ashlar.protocol.message.Precondition;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.VersionRef;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Deletes up to a thousand keys or versions, and reports the outcome of each. */
public record DeleteObjectsHandler(Backend backend) {
  private static final int KEYS_MAX = 1000;

  /** The lines of the audit log about single keys. */
  private static final String KEY_OPERATION = "DeleteObjectsKey";

  /** What the body names, as it names it. */
  private record Deletion(String key, @Nullable String versionId, Precondition condition) {}

  private sealed interface Outcome {}

  private record Deleted(Deletion deletion, DeleteResult result) implements Outcome {}

  private record Failed(Deletion deletion, Refusal refusal) implements Outcome {}

  /**
   * Why a key is not deleted.
   *
   * @param isAllowed false: denied, or that was not decided
   * @param denial null: it is not denied
   */
  private record Refusal(S3Error error, boolean isAllowed, @Nullable Denial denial) {}

  /**
   * A deletion that is decided about.
   *
   * @param target what is to be deleted; null if it is refused
   */
  private record Decided(
      Deletion deletion, @Nullable DeleteTarget target, @Nullable Refusal refusal) {}

  /**
   * @param parts is told about each key; null: nobody asks
   */
  public HttpAnswer handle(
      S3Request.DeleteObjects request,
      Permit permit,
      RequestBody body,
      @Nullable Consumer<AuditEvent.Part> parts)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    Element document = XmlReader.read(BodyIngest.document(body), "Delete");
    List<Deletion> deletions = deletions(document);
    List<Outcome> outcomes = delete(request, permit, decide(request, permit, deletions), parts);
    boolean isQuiet = "true".equals(document.childText("Quiet"));
    return Answers.xml(document(outcomes, isQuiet));
  }

  private static AuditEvent.Part part(Outcome outcome) {
    return switch (outcome) {
      case Deleted(Deletion deletion, DeleteResult result) ->
          new AuditEvent.Part(
              KEY_OPERATION, deletion.key, deletion.versionId, true, null, 204, null);
      case Failed(Deletion deletion, Refusal refusal) ->
          new AuditEvent.Part(
              KEY_OPERATION,
              deletion.key,
              deletion.versionId,
              refusal.isAllowed,
              refusal.denial,
              refusal.error.status(),
              refusal.error.code());
    };
  }

  private static List<Deletion> deletions(Element document) throws S3Exception {
    List<Deletion> deletions = new ArrayList<>();
    for (Element child : document.children()) {
      if (child.name().equals("Object")) {
        String key = child.required("Key");
        if (key.isEmpty()) {
          throw new S3Exception(S3Error.MALFORMED_XML);
        }
        String versionId = child.childText("VersionId");
        boolean hasVersion = versionId != null && !versionId.isEmpty();
        deletions.add(new Deletion(key, hasVersion ? versionId : null, condition(child)));
      }
    }
    if (deletions.isEmpty() || deletions.size() > KEYS_MAX) {
      throw new S3Exception(S3Error.MALFORMED_XML);
    }
    return deletions;
  }

  private static Precondition condition(Element entry) throws S3Exception {
    String etag = entry.childText("ETag");
    Precondition onEtag =
        etag == null
            ? Precondition.getDefaultInstance()
            : Precondition.newBuilder().setIfMatch(Etags.unquote(etag)).build();
    return DeleteConditions.with(
        onEtag, entry.childText("Size"), entry.childText("LastModifiedTime"));
  }

  private static List<Decided> decide(
      S3Request.DeleteObjects request, Permit permit, List<Deletion> deletions) {
    List<Decided> all = new ArrayList<>(deletions.size());
    for (Deletion deletion : deletions) {
      VersionRef version =
          deletion.versionId == null ? null : VersionId.version(deletion.versionId);
      Refusal refusal = refusal(request, permit, deletion, version);
      DeleteTarget target =
          refusal == null ? target(deletion, version, request.bypassesGovernance()) : null;
      all.add(new Decided(deletion, target, refusal));
    }
    return all;
  }

  /** Carries out what is allowed, in the order of the request. */
  private List<Outcome> delete(
      S3Request.DeleteObjects request,
      Permit permit,
      List<Decided> decided,
      @Nullable Consumer<AuditEvent.Part> parts)
      throws S3Exception, MetadataUnavailableException {
    List<DeleteTarget> targets = new ArrayList<>(decided.size());
    for (Decided each : decided) {
      if (each.target != null) {
        targets.add(each.target);
      }
    }
    List<DeleteResult> results = new ArrayList<>(targets.size());
    S3Error failure = S3Error.INTERNAL_ERROR;
    try {
      new Deletions(backend, request.bucket())
          .delete(targets, VersionId.areKept(permit.bucket()), results);
      return outcomes(decided, results, failure);
    } catch (S3Exception e) {
      failure = e.error();
      throw e;
    } catch (MetadataUnavailableException e) {
      failure = ErrorMapping.of(e).error();
      throw e;
    } finally {
      if (parts != null) {
        outcomes(decided, results, failure).forEach(outcome -> parts.accept(part(outcome)));
      }
    }
  }

  /**
   * @param failure of those that have no result
   */
  private static List<Outcome> outcomes(
      List<Decided> decided, List<DeleteResult> results, S3Error failure) {
    List<Outcome> outcomes = new ArrayList<>(decided.size());
    int next = 0;
    for (Decided each : decided) {
      if (each.refusal != null) {
        outcomes.add(new Failed(each.deletion, each.refusal));
      } else if (next < results.size()) {
        outcomes.add(outcome(each.deletion, results.get(next++)));
      } else {
        outcomes.add(new Failed(each.deletion, new Refusal(failure, true, null)));
      }
    }
    return outcomes;
  }

  /** Why a deletion is not even tried; null if it is. */
  private static @Nullable Refusal refusal(
      S3Request.DeleteObjects request,
      Permit permit,
      Deletion deletion,
      @Nullable VersionRef version) {
    if (S3Request.isTooLong(deletion.key)) {
      return new Refusal(S3Error.KEY_TOO_LONG, false, null);
    }
    if (deletion.versionId != null && version == null) {
      return new Refusal(S3Error.NO_SUCH_VERSION, false, null);
    }
    String bucket = request.bucket();
    Need.Resource key = new Need.Resource.Key(bucket, deletion.key, version);
    Decision decision = permit.decide(Need.ofVersion("s3:DeleteObject", key));
    if (decision.isAllowed() && request.bypassesGovernance()) {
      decision = permit.decide(Need.of(S3Request.BYPASS_GOVERNANCE, key));
    }
    String etag = deletion.condition.getIfMatch();
    if (decision.isAllowed() && !etag.isEmpty() && !etag.equals("*")) {
      decision =
          permit.decide(Need.of("s3:GetObject", new Need.Resource.Key(bucket, deletion.key)));
    }
    return decision.isAllowed() ? null : new Refusal(S3Error.ACCESS_DENIED, false, decision.why());
  }

  private static DeleteTarget target(
      Deletion deletion, @Nullable VersionRef version, boolean bypassesGovernance) {
    DeleteTarget.Builder target = DeleteTarget.newBuilder().setKey(deletion.key);
    if (!deletion.condition.equals(Precondition.getDefaultInstance())) {
      target.setPrecondition(deletion.condition);
    }
    if (version != null) {
      target.setVersion(version).setBypassGovernance(bypassesGovernance);
    }
    return target.build();
  }

  private static Outcome outcome(Deletion deletion, DeleteResult result) {
    return result.getCode() == ResultCode.OK
        ? new Deleted(deletion, result)
        : new Failed(
            deletion,
            new Refusal(
                ErrorMapping.error(result.getCode()),
                true,
                result.getCode() == ResultCode.OBJECT_LOCKED ? Denial.LOCK : null));
  }

  private static XmlWriter document(List<Outcome> outcomes, boolean isQuiet) {
    XmlWriter xml = new XmlWriter().openRoot("DeleteResult");
    for (Outcome outcome : outcomes) {
      switch (outcome) {
        case Deleted deleted -> {
          if (!isQuiet) {
            write(xml, deleted);
          }
        }
        case Failed failed -> write(xml, failed);
      }
    }
    return xml.close();
  }

  private static void write(XmlWriter xml, Deleted deleted) {
    String versionId = deleted.deletion.versionId;
    DeleteResult result = deleted.result;
    xml.open("Deleted").element("Key", deleted.deletion.key).optional("VersionId", versionId);
    if (result.getDeleteMarker()) {
      xml.element("DeleteMarker", true)
          .element(
              "DeleteMarkerVersionId",
              versionId == null
                  ? VersionId.of(result.getVersion(), result.getVersioned())
                  : versionId);
    }
    xml.close();
  }

  private static void write(XmlWriter xml, Failed failed) {
    xml.open("Error")
        .element("Key", failed.deletion.key)
        .optional("VersionId", failed.deletion.versionId)
        .element("Code", failed.refusal.error.code())
        .element("Message", failed.refusal.error.message())
        .close();
  }
}
