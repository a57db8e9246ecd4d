/*
 * What Java calls in dev.ashlar.codec.isal.NativeMethods. All arguments were checked there: nothing
 * here looks at them again. Functions are short and, but for allocateFile, never block.
 */
#define _GNU_SOURCE /* preadv2, syscall */
#include <errno.h>
#include <isa-l/erasure_code.h>
#include <jni.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "allocation.h"
#include "crc64nvme.h"
#include "md5lanes.h"
#include "sha256pair.h"

#define CACHESTAT 451 /* the system call, on all processors but alpha */
#define COUNT_MAX 510 /* any shards from k others, k + m <= 255 */
#define NARROW_MAX 12
#define MD5_END_MAX 128 /* the last bytes and the padding behind them */

/*
 * The address of a direct buffer, from its field: JVMs answer GetLongField without leaving Java's
 * thread state, ten times faster than GetDirectBufferAddress. Null where the field does not exist or
 * is not what it seems; then GetDirectBufferAddress serves.
 */
static jfieldID address_field;

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
	JNIEnv *env;
	(void)reserved;
	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) != JNI_OK)
		return JNI_ERR;
	static char probe[1];
	jobject buffer = (*env)->NewDirectByteBuffer(env, probe, sizeof(probe));
	jclass type = (*env)->FindClass(env, "java/nio/Buffer");
	if (buffer == NULL || type == NULL)
		return JNI_ERR;
	address_field = (*env)->GetFieldID(env, type, "address", "J");
	if (address_field == NULL)
		(*env)->ExceptionClear(env);
	else if ((*env)->GetLongField(env, buffer, address_field) != (jlong)(uintptr_t)probe)
		address_field = NULL;
	crc64nvme_init();
	md5lanes_init();
	return JNI_VERSION_10;
}

static inline unsigned char *address(JNIEnv *env, jobject buffer)
{
	if (address_field != NULL)
		return (unsigned char *)(uintptr_t)(*env)->GetLongField(env, buffer, address_field);
	return (*env)->GetDirectBufferAddress(env, buffer);
}

/* Multiplies by the matrix, or, where a column is named, adds that column times the one source. */
static void apply(jlong tables, jint columns, jint rows, jint column, unsigned char **shards,
		  jint length)
{
	unsigned char *prepared = (unsigned char *)(uintptr_t)tables;
	if (column < 0)
		ec_encode_data(length, columns, rows, prepared, shards, shards + columns);
	else
		ec_encode_data_update(length, columns, rows, column, prepared, shards[0], shards + 1);
}

JNIEXPORT jlong JNICALL Java_dev_ashlar_codec_isal_NativeMethods_address(
	JNIEnv *env, jclass self, jobject buffer)
{
	(void)self;
	return (jlong)(uintptr_t)address(env, buffer);
}

JNIEXPORT void JNICALL Java_dev_ashlar_codec_isal_NativeMethods_prepare(
	JNIEnv *env, jclass self, jint columns, jint rows, jobject matrix, jobject tables)
{
	(void)self;
	ec_init_tables(columns, rows, address(env, matrix), address(env, tables));
}

JNIEXPORT void JNICALL Java_dev_ashlar_codec_isal_NativeMethods_applyNarrow(
	JNIEnv *env, jclass self, jlong tables, jint columns, jint rows, jint column, jint length,
	jint count, jobject b0, jobject b1, jobject b2, jobject b3, jobject b4, jobject b5, jobject b6,
	jobject b7, jobject b8, jobject b9, jobject b10, jobject b11, jint p0, jint p1, jint p2, jint p3,
	jint p4, jint p5, jint p6, jint p7, jint p8, jint p9, jint p10, jint p11)
{
	jobject buffers[NARROW_MAX] = {b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11};
	jint positions[NARROW_MAX] = {p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11};
	unsigned char *shards[NARROW_MAX];
	(void)self;
	for (jint i = 0; i < count; i++)
		shards[i] = address(env, buffers[i]) + positions[i];
	apply(tables, columns, rows, column, shards, length);
}

JNIEXPORT void JNICALL Java_dev_ashlar_codec_isal_NativeMethods_applyWide(
	JNIEnv *env, jclass self, jlong tables, jint columns, jint rows, jint column, jint length,
	jlongArray addresses)
{
	jlong values[COUNT_MAX];
	unsigned char *shards[COUNT_MAX];
	(void)self;
	jint count = (*env)->GetArrayLength(env, addresses);
	(*env)->GetLongArrayRegion(env, addresses, 0, count, values);
	for (jint i = 0; i < count; i++)
		shards[i] = (unsigned char *)(uintptr_t)values[i];
	apply(tables, columns, rows, column, shards, length);
}

JNIEXPORT jboolean JNICALL Java_dev_ashlar_codec_isal_NativeMethods_hasCrc64(JNIEnv *env, jclass self)
{
	(void)env;
	(void)self;
	return crc64nvme_supported() ? JNI_TRUE : JNI_FALSE;
}

JNIEXPORT jlong JNICALL Java_dev_ashlar_codec_isal_NativeMethods_crc64(
	JNIEnv *env, jclass self, jlong state, jobject buffer, jint position, jint length)
{
	(void)self;
	return (jlong)crc64nvme_update((uint64_t)state, address(env, buffer) + position, (size_t)length);
}

JNIEXPORT jlong JNICALL Java_dev_ashlar_codec_isal_NativeMethods_crc64OfArray(
	JNIEnv *env, jclass self, jlong state, jbyteArray array, jint offset, jint length)
{
	(void)self;
	unsigned char *bytes = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
	if (bytes == NULL)
		return state; /* an OutOfMemoryError is pending */
	state = (jlong)crc64nvme_update((uint64_t)state, bytes + offset, (size_t)length);
	(*env)->ReleasePrimitiveArrayCritical(env, array, bytes, JNI_ABORT);
	return state;
}

JNIEXPORT void JNICALL Java_dev_ashlar_codec_isal_NativeMethods_md5Lanes(
	JNIEnv *env, jclass self, jlong lanes, jint count, jint blocks)
{
	(void)env;
	(void)self;
	md5lanes_update((struct md5_lanes *)(uintptr_t)lanes, count, blocks);
}

JNIEXPORT void JNICALL Java_dev_ashlar_codec_isal_NativeMethods_md5(
	JNIEnv *env, jclass self, jintArray state, jobject buffer, jint position, jint blocks)
{
	jint words[4];
	(void)self;
	(*env)->GetIntArrayRegion(env, state, 0, 4, words);
	md5_update((uint32_t *)words, address(env, buffer) + position, blocks);
	(*env)->SetIntArrayRegion(env, state, 0, 4, words);
}

JNIEXPORT void JNICALL Java_dev_ashlar_codec_isal_NativeMethods_md5End(
	JNIEnv *env, jclass self, jintArray state, jbyteArray end, jint blocks)
{
	jint words[4];
	jbyte bytes[MD5_END_MAX];
	(void)self;
	(*env)->GetIntArrayRegion(env, state, 0, 4, words);
	(*env)->GetByteArrayRegion(env, end, 0, 64 * blocks, bytes);
	md5_update((uint32_t *)words, (const unsigned char *)bytes, blocks);
	(*env)->SetIntArrayRegion(env, state, 0, 4, words);
}

JNIEXPORT jboolean JNICALL Java_dev_ashlar_codec_isal_NativeMethods_hasSha256(JNIEnv *env, jclass self)
{
	(void)env;
	(void)self;
	return sha256_supported() ? JNI_TRUE : JNI_FALSE;
}

JNIEXPORT void JNICALL Java_dev_ashlar_codec_isal_NativeMethods_sha256(
	JNIEnv *env, jclass self, jlongArray fragments, jint first_count, jbyteArray hashes)
{
	struct sha256_fragment parts[SHA256_MESSAGES_MAX * SHA256_FRAGMENTS_MAX];
	unsigned char results[SHA256_MESSAGES_MAX][SHA256_BYTES];
	(void)self;
	jint longs = (*env)->GetArrayLength(env, fragments);
	jint bytes = (*env)->GetArrayLength(env, hashes);
	int counts[SHA256_MESSAGES_MAX] = {first_count, longs / 2 - first_count};
	(*env)->GetLongArrayRegion(env, fragments, 0, longs, (jlong *)parts);
	sha256_hash(parts, counts, bytes / SHA256_BYTES, results);
	(*env)->SetByteArrayRegion(env, hashes, 0, bytes, (const jbyte *)results);
}

JNIEXPORT jboolean JNICALL Java_dev_ashlar_codec_isal_NativeMethods_allocateFile(
	JNIEnv *env, jclass self, jbyteArray path, jlong bytes)
{
	char name[PATH_MAX];
	(void)self;
	jint length = (*env)->GetArrayLength(env, path);
	if (length >= PATH_MAX)
		return JNI_FALSE;
	(*env)->GetByteArrayRegion(env, path, 0, length, (jbyte *)name);
	name[length] = 0;
	return allocate_file(name, bytes) ? JNI_TRUE : JNI_FALSE;
}

/* The number in the field `fd` of a FileChannelImpl's FileDescriptor, or -1 where it has none. */
JNIEXPORT jint JNICALL Java_dev_ashlar_codec_isal_NativeMethods_descriptor(
	JNIEnv *env, jclass self, jobject channel)
{
	(void)self;
	jfieldID field = (*env)->GetFieldID(env, (*env)->GetObjectClass(env, channel), "fd",
					    "Ljava/io/FileDescriptor;");
	jobject descriptor = field == NULL ? NULL : (*env)->GetObjectField(env, channel, field);
	if (descriptor != NULL) {
		field = (*env)->GetFieldID(env, (*env)->GetObjectClass(env, descriptor), "fd", "I");
		if (field != NULL)
			return (*env)->GetIntField(env, descriptor, field);
	}
	(*env)->ExceptionClear(env);
	return -1;
}

/*
 * Whether the page cache has all pages of the range. A read with RWF_NOWAIT alone does not wait for
 * the drive, but it would begin to read ahead from it. False also where Linux is older than 6.5.
 */
static bool is_cached(int descriptor, jlong offset, jint length)
{
	/* struct cachestat_range and struct cachestat of <linux/mman.h>, which older headers lack. */
	uint64_t range[2] = {(uint64_t)offset, (uint64_t)length};
	struct {
		uint64_t cached, dirty, writeback, evicted, recently_evicted;
	} pages;
	int64_t page = sysconf(_SC_PAGESIZE);
	if (syscall(CACHESTAT, descriptor, range, &pages, 0) != 0)
		return false;
	return pages.cached == (uint64_t)((offset + length - 1) / page - offset / page + 1);
}

JNIEXPORT jint JNICALL Java_dev_ashlar_codec_isal_NativeMethods_readCached(
	JNIEnv *env, jclass self, jint descriptor, jboolean in_memory, jobject buffer, jint position,
	jint length, jlong offset)
{
	struct iovec part = {address(env, buffer) + position, (size_t)length};
	ssize_t got;
	(void)self;
	if (!in_memory && !is_cached(descriptor, offset, length))
		return -1;
	do
		got = in_memory ? pread(descriptor, part.iov_base, part.iov_len, offset)
				: preadv2(descriptor, &part, 1, offset, RWF_NOWAIT);
	while (got < 0 && errno == EINTR);
	return (jint)got;
}
