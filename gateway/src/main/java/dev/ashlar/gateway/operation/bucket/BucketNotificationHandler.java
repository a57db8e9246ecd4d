package dev.ashlar.gateway.operation.bucket;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.notification.EventMessage;
import dev.ashlar.gateway.notification.EventTarget;
import dev.ashlar.gateway.notification.EventTargets;
import dev.ashlar.gateway.notification.Notifications;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.BucketDocumentKind;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.PutBucketDocument;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Reads and changes who is told of events in a bucket. */
public record BucketNotificationHandler(Backend backend, EventTargets targets) {
  private static final long TEST_SECONDS = 10;
  private static final String REFUSED =
      "Unable to validate the following destination configurations";

  public HttpAnswer handle(S3Request.GetBucketNotificationConfiguration request)
      throws MetadataUnavailableException {
    ByteString document =
        backend.document(request.bucket(), BucketDocumentKind.NOTIFICATIONS.number());
    return Answers.xml(
        document == null ? Notifications.NONE.document() : document.toByteArray(),
        Answers.headers());
  }

  public HttpAnswer handle(
      S3Request.PutBucketNotificationConfiguration request, HttpExchange exchange, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    Notifications wanted = Notifications.of(BodyIngest.document(body), this::newId);
    List<EventTarget> named = named(wanted);
    if (request.isTested()) {
      test(
          named,
          EventMessage.test(
              request.bucket(),
              backend.clock().instant(),
              exchange.requestId(),
              exchange.hostId()));
    }
    put(request.bucket(), wanted);
    return Answers.empty(200);
  }

  private String newId() {
    return HexFormat.of().toHexDigits(backend.random().nextLong());
  }

  private List<EventTarget> named(Notifications wanted) throws S3Exception {
    List<EventTarget> named = new ArrayList<>();
    for (String arn : wanted.targets()) {
      EventTarget target = targets.byArn().get(arn);
      if (target == null) {
        throw S3Exception.invalidArgument(REFUSED, arn, "The target is not configured.");
      }
      named.add(target);
    }
    return named;
  }

  private static void test(List<EventTarget> tested, EventMessage message)
      throws S3Exception, InterruptedException {
    long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TEST_SECONDS);
    List<CompletableFuture<Void>> sent = new ArrayList<>();
    try {
      tested.forEach(target -> sent.add(target.send(message)));
      for (int i = 0; i < sent.size(); i++) {
        await(sent.get(i), endNanos - System.nanoTime(), tested.get(i).arn());
      }
    } finally {
      sent.forEach(each -> each.cancel(true));
    }
  }

  /** What the target has said is for the operator only. */
  private static void await(CompletableFuture<Void> sent, long nanosMax, String arn)
      throws S3Exception, InterruptedException {
    try {
      sent.get(Math.max(1, nanosMax), TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw S3Exception.invalidArgument(REFUSED, arn, "The target took no test event.");
    }
  }

  /** The document, and the kinds of events that metadata writes, change in one step. */
  private void put(String bucket, Notifications wanted)
      throws S3Exception, MetadataUnavailableException {
    backend.submit(
        Command.newBuilder()
            .setPutBucketDocument(
                PutBucketDocument.newBuilder()
                    .setBucket(bucket)
                    .setKind(BucketDocumentKind.NOTIFICATIONS.number())
                    .setDocument(
                        wanted.rules().isEmpty()
                            ? ByteString.EMPTY
                            : ByteString.copyFrom(wanted.document()))
                    .setNotifiedEvents(wanted.kinds())));
  }
}
