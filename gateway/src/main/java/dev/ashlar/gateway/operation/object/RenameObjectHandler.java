package dev.ashlar.gateway.operation.object;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.checksum.Digests;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.s3.Conditions.Verdict;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.Precondition;
import dev.ashlar.protocol.message.RenameMark;
import dev.ashlar.protocol.message.RenameObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.Versioning;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Puts an object under another key of its bucket. No data moves. */
public record RenameObjectHandler(Backend backend) {
  private static final int TRIES = 5;

  /** No version has this number. */
  private static final long NO_VERSION = -1;

  /**
   * The object to be renamed.
   *
   * @param version that was decided on
   * @param refusal why it is not renamed, unless an earlier request with this token has done so
   */
  private record Source(long version, @Nullable S3Exception refusal) {}

  public HttpAnswer handle(S3Request.RenameObject request, Permit permit)
      throws S3Exception, MetadataUnavailableException {
    if (permit.bucket().getVersioning() != Versioning.VERSIONING_OFF) {
      throw new S3Exception(
          S3Error.INVALID_BUCKET_STATE, "Objects of buckets with versions are not renamed.");
    }
    for (int tries = 1; ; tries++) {
      Source source = source(request, permit.caller());
      CommandResult result = submit(request, source);
      ResultCode code = result.getCode();
      S3Exception refusal = source.refusal;
      if (refusal != null && code != ResultCode.OK && code != ResultCode.TOKEN_REUSED) {
        throw refusal;
      }
      // The source was replaced after it was read, or a condition on the target does not hold.
      if (code != ResultCode.PRECONDITION_FAILED || tries == TRIES) {
        ErrorMapping.requireOk(result);
        return Answers.empty(200);
      }
    }
  }

  private Source source(S3Request.RenameObject request, Caller caller)
      throws S3Exception, MetadataUnavailableException {
    try {
      ObjectRecord object =
          backend.access().require(caller, request.needsOfSource()).object().object();
      ObjectSummary summary = object.getSummary();
      Verdict verdict = request.conditions().judge(summary.getEtag(), summary.getLastModifiedMs());
      if (verdict != Verdict.PASS) {
        throw new S3Exception(S3Error.PRECONDITION_FAILED);
      }
      requireFacts(request, caller, object.getFacts());
      return new Source(object.getVersion(), null);
    } catch (S3Exception e) {
      boolean mayBeDone =
          !request.clientToken().isEmpty()
              && (e.error() == S3Error.NO_SUCH_KEY || e.error() == S3Error.PRECONDITION_FAILED);
      if (!mayBeDone) {
        throw e;
      }
      return new Source(NO_VERSION, e);
    }
  }

  /** Tags and an ACL come under the new name only by those who may give them to it. */
  private void requireFacts(S3Request.RenameObject request, Caller caller, ObjectFacts facts)
      throws S3Exception, MetadataUnavailableException {
    List<String> actions = new ArrayList<>();
    if (facts.getTagsCount() > 0) {
      actions.addAll(List.of("s3:PutObject", "s3:PutObjectTagging"));
    }
    if (!facts.getAcl().isEmpty()) {
      actions.add("s3:PutObjectAcl");
    }
    if (!actions.isEmpty()) {
      Need need = new Need(actions, new Need.Resource.Key(request.bucket(), request.key()));
      backend.access().require(caller.bringing(facts.getTagsList()), need);
    }
  }

  private CommandResult submit(S3Request.RenameObject request, Source source)
      throws MetadataUnavailableException {
    RenameObject.Builder rename =
        RenameObject.newBuilder()
            .setBucket(request.bucket())
            .setSourceKey(request.source())
            .setKey(request.key())
            .setSourcePrecondition(Precondition.newBuilder().setIfVersion(source.version))
            .setPrecondition(request.precondition());
    if (!request.clientToken().isEmpty()) {
      rename.setMark(mark(request));
    }
    return backend.metadata().submit(backend.command().setRenameObject(rename));
  }

  private static RenameMark mark(S3Request.RenameObject request) {
    String parameters =
        String.join(
            "\n",
            request.source(),
            request.conditions().toString(),
            request.precondition().getIfMatch(),
            request.precondition().getIfNoneMatch());
    return RenameMark.newBuilder()
        .setClientToken(request.clientToken())
        .setParameters(
            ByteString.fromHex(Digests.sha256Hex(parameters.getBytes(StandardCharsets.UTF_8))))
        .build();
  }
}
