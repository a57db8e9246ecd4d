package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.s3.TagSet;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetObjectFacts;

/** Reads and changes the tags of an object. Changing them makes no new version. */
public record ObjectTaggingHandler(Backend backend) {
  private static final int TRIES = 5;

  public static HttpAnswer handle(S3Request.GetObjectTagging request, Permit permit) {
    TagSet tags = new TagSet(permit.object().object().getFacts().getTagsList());
    return Answers.xml(tags.document(), Answers.headers());
  }

  /** Decides here, as policies may ask which tags the body brings. */
  public HttpAnswer handle(S3Request.PutObjectTagging request, Caller caller, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    TagSet tags = TagSet.of(BodyIngest.document(body), TagSet.OBJECT_TAGS_MAX);
    Caller bringing = caller.bringing(tags.tags());
    Permit permit = backend.access().require(bringing, request.needsOfObject());
    set(request, permit, bringing, request.needsOfObject(), tags);
    return Answers.empty(200);
  }

  public HttpAnswer handle(S3Request.DeleteObjectTagging request, Permit permit)
      throws S3Exception, MetadataUnavailableException {
    set(request, permit, permit.caller(), request.needs(), TagSet.NONE);
    return Answers.empty(204);
  }

  private void set(
      S3Request.KeyRequest request, Permit first, Caller caller, Need need, TagSet tags)
      throws S3Exception, MetadataUnavailableException {
    Permit permit = first;
    for (int tries = 1; ; tries++) {
      CommandResult result = submit(request, permit.object().object(), tags);
      // The object was replaced after it was decided on: policies may ask about its tags.
      if (result.getCode() != ResultCode.CONDITIONAL_CONFLICT || tries == TRIES) {
        ErrorMapping.requireOk(result);
        return;
      }
      permit = backend.access().require(caller, need);
    }
  }

  private CommandResult submit(S3Request.KeyRequest request, ObjectRecord seen, TagSet tags)
      throws MetadataUnavailableException {
    SetObjectFacts.Builder set =
        SetObjectFacts.newBuilder()
            .setBucket(request.bucket())
            .setKey(request.key())
            .setExpectedVersion(seen.getVersion());
    set.getTagsBuilder().addAllTags(tags.tags());
    return backend.metadata().submit(Command.newBuilder().setSetObjectFacts(set));
  }
}
