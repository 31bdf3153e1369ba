// SPDX-License-Identifier: GPL-2.0-only
/*
 * The companion driver: what a vendor's GPU driver is to a real GPU.
 */

/**
 * DOC: companion driver
 *
 * Binds to simulated GPUs only and gives each a character device,
 * /dev/gpufabric-sim/SLOT, that can be held open and mapped; SLOT.1 is the
 * second GPU of a card. An open file or a mapping pins the module. If the GPU
 * goes while it is open, reads fail with ENODEV.
 *
 * Like some vendors' drivers, it can keep a reference without any process:
 * "persistence" of the PCI device turns that on and off, and "users" counts
 * it with the open files.
 *
 * The contents of "memory" of the PCI device stay in the GPU's memory, as in
 * a real one, for the next reader, even one with another driver.
 *
 * Its open files are its clients, and fdinfo says what each has used, as DRM drivers
 * do. How busy they keep it is what is written to "busy" of the PCI device, in percent,
 * and "used", MiB of memory; the clients share both. Without a client it is idle:
 * "gpu_busy_percent" and "mem_info_vram_used", which are called as amdgpu's, say so.
 *
 * It takes orders for the first GPU of each slot, each for one time: to
 * refuse or delay the next probe; to stay locked for a while after it is
 * bound, like a device whose files are being read; and to hold the next
 * removal until it is released, or until nobody uses the device any more, as
 * vendors' drivers do.
 *
 * A GPU that can have virtual functions gets them by sriov_numvfs, or by an
 * order: then they come and go without pci_rescan_remove_lock, as a vendor's
 * driver may do it. No driver binds to them. The next removal can be told to
 * leave them, like drivers that find them in use.
 *
 * A held removal sleeps with the locks of the task that unbinds the driver,
 * as real ones do: if that is a slot driver, no other removal or scan on the
 * host can proceed meanwhile. Unloading releases it.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sim.h"

#include <linux/cdev.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pm_runtime.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

/**
 * struct sim_gpu - a GPU that the driver is bound to
 * @kref: one for the driver and one for each open file
 * @slot: where it is; stays in memory while the module does
 * @index: its number on the card
 * @pdev: its device; until @gone
 * @vf_mutex: serialises what makes virtual functions come and go with the end of
 *	@pdev. Taken under the rescan lock or without it
 * @users: open files, and one more while @persistent; protected by sim_gpu_mutex
 * @persistent: the driver holds the GPU itself; protected by sim_gpu_mutex
 * @gone: the device was removed; protected by sim_gpu_mutex
 * @clients: &struct sim_client; protected by sim_gpu_mutex
 * @n_clients: number of them; protected by sim_gpu_mutex
 * @busy: percent of the time that they keep it busy; protected by sim_gpu_mutex
 * @used_mib: memory that they use; protected by sim_gpu_mutex
 * @accounted: when their time was last added up; protected by sim_gpu_mutex
 */
struct sim_gpu {
	struct kref kref;
	struct sim_slot *slot;
	unsigned int index;
	struct pci_dev *pdev;
	/* Covers virtual functions. */
	struct mutex vf_mutex;
	unsigned int users;
	bool persistent;
	bool gone;
	struct list_head clients;
	unsigned int n_clients;
	unsigned int busy;
	unsigned int used_mib;
	ktime_t accounted;
};

/**
 * struct sim_client - an open file
 * @entry: of &sim_gpu.clients
 * @gpu: which it has open
 * @id: no other client had it
 * @busy_ns: what it has used; protected by sim_gpu_mutex
 */
struct sim_client {
	struct list_head entry;
	struct sim_gpu *gpu;
	u64 id;
	u64 busy_ns;
};

/* The last id of a client; protected by sim_gpu_mutex. */
static u64 sim_client_id;

/*
 * Protects &sim_slot.gpu, &sim_slot.knobs and the fields of &struct sim_gpu and
 * &struct sim_client. Taken under the rescan lock; the locks of ports are taken below it.
 */
static DEFINE_MUTEX(sim_gpu_mutex);

/* Woken when a removal may go on. */
static DECLARE_WAIT_QUEUE_HEAD(release_wait);

static struct class gpu_class = { .name = "gpufabric_sim_gpu" };
static struct cdev gpu_cdev;
static dev_t gpu_devt;

static void gpu_free(struct kref *kref)
{
	kfree(container_of(kref, struct sim_gpu, kref));
}

/* What its clients have used since this was last called; before any of that changes. */
static void gpu_account(struct sim_gpu *gpu)
{
	ktime_t now = ktime_get();
	struct sim_client *client;
	u64 ns;

	lockdep_assert_held(&sim_gpu_mutex);
	ns = ktime_to_ns(ktime_sub(now, gpu->accounted)) * gpu->busy;
	gpu->accounted = now;
	if (gpu->gone || !gpu->n_clients)
		return;
	ns = div_u64(ns, 100 * gpu->n_clients);
	list_for_each_entry(client, &gpu->clients, entry)
		client->busy_ns += ns;
}

static int gpu_open(struct inode *inode, struct file *file)
{
	unsigned int minor = iminor(inode) - MINOR(gpu_devt);
	struct sim_slot *slot = sim_slot_of_minor(minor % sim_minors());
	struct sim_client *client = kzalloc(sizeof(*client), GFP_KERNEL);
	struct sim_gpu *gpu;
	int ret = -ENODEV;

	if (!client)
		return -ENOMEM;
	mutex_lock(&sim_gpu_mutex);
	gpu = slot ? slot->gpu[minor / sim_minors()] : NULL;
	if (gpu && !gpu->gone) {
		kref_get(&gpu->kref);
		gpu->users++;
		gpu_account(gpu);
		client->gpu = gpu;
		client->id = ++sim_client_id;
		list_add_tail(&client->entry, &gpu->clients);
		gpu->n_clients++;
		file->private_data = client;
		ret = 0;
	}
	mutex_unlock(&sim_gpu_mutex);
	if (ret)
		kfree(client);
	return ret;
}

static int gpu_release(struct inode *inode, struct file *file)
{
	struct sim_client *client = file->private_data;
	struct sim_gpu *gpu = client->gpu;

	mutex_lock(&sim_gpu_mutex);
	gpu_account(gpu);
	list_del(&client->entry);
	gpu->n_clients--;
	gpu->users--;
	mutex_unlock(&sim_gpu_mutex);
	wake_up_all(&release_wait);
	kfree(client);
	kref_put(&gpu->kref, gpu_free);
	return 0;
}

/* As the kernel's drm-usage-stats has it. */
static void gpu_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct sim_client *client = file->private_data;
	struct sim_gpu *gpu = client->gpu;

	mutex_lock(&sim_gpu_mutex);
	gpu_account(gpu);
	seq_printf(m, "drm-driver:\t%s\n", SIM_DRIVER_NAME);
	if (!gpu->gone)
		seq_printf(m, "drm-pdev:\t%s\n", pci_name(gpu->pdev));
	seq_printf(m, "drm-client-id:\t%llu\n", client->id);
	seq_printf(m, "drm-engine-compute:\t%llu ns\n", client->busy_ns);
	seq_printf(m, "drm-resident-vram:\t%u KiB\n",
		   gpu->used_mib * 1024 / gpu->n_clients);
	mutex_unlock(&sim_gpu_mutex);
}

static ssize_t gpu_read(struct file *file, char __user *to, size_t count,
			loff_t *pos)
{
	struct sim_client *client = file->private_data;
	struct sim_gpu *gpu = client->gpu;
	struct sim_slot *slot = gpu->slot;
	char text[64];
	int len = -ENODEV;

	mutex_lock(&sim_gpu_mutex);
	if (!gpu->gone) {
		raw_spin_lock_irq(&slot->port.lock);
		len = scnprintf(text, sizeof(text), "%s %016llx\n",
				slot->card.model->name, slot->card.serial);
		raw_spin_unlock_irq(&slot->port.lock);
	}
	mutex_unlock(&sim_gpu_mutex);
	if (len < 0)
		return len;
	return simple_read_from_buffer(to, count, pos, text, len);
}

static vm_fault_t gpu_fault(struct vm_fault *fault)
{
	struct page *page = alloc_page(GFP_HIGHUSER | __GFP_ZERO);

	if (!page)
		return VM_FAULT_OOM;
	fault->page = page;
	return 0;
}

static const struct vm_operations_struct gpu_vm_ops = {
	.fault = gpu_fault,
};

/* Memory of its own for each user: there is none behind the BARs. */
static int gpu_mmap(struct file *file, struct vm_area_struct *vma)
{
	vma->vm_ops = &gpu_vm_ops;
	return 0;
}

static const struct file_operations gpu_fops = {
	.owner = THIS_MODULE,
	.open = gpu_open,
	.release = gpu_release,
	.read = gpu_read,
	.mmap = gpu_mmap,
	.show_fdinfo = gpu_show_fdinfo,
	.llseek = default_llseek,
};

/* Takes the orders for this probe. */
static int probe_orders(struct sim_slot *slot)
{
	unsigned int ms;
	bool fail;

	mutex_lock(&sim_gpu_mutex);
	ms = slot->knobs.probe_ms;
	slot->knobs.probe_ms = 0;
	fail = slot->knobs.probe_fail;
	if (fail)
		slot->knobs.probe_fail--;
	mutex_unlock(&sim_gpu_mutex);

	if (ms)
		msleep(ms);
	return fail ? -EIO : 0;
}

static dev_t devt_of(const struct sim_gpu *gpu)
{
	return gpu_devt + gpu->index * sim_minors() + sim_slot_minor(gpu->slot);
}

static struct device *make_device(struct sim_gpu *gpu)
{
	if (gpu->index)
		return device_create(&gpu_class, &gpu->pdev->dev, devt_of(gpu),
				     NULL, "gpufabric-sim!%s.%u",
				     gpu->slot->name, gpu->index);
	return device_create(&gpu_class, &gpu->pdev->dev, devt_of(gpu), NULL,
			     "gpufabric-sim!%s", gpu->slot->name);
}

static int gpu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	unsigned int index;
	struct sim_slot *slot = sim_slot_of_card(pdev, &index);
	struct device *dev;
	struct sim_gpu *gpu;
	int ret;

	if (!slot || pdev->devfn)
		return -ENODEV;
	ret = index ? 0 : probe_orders(slot);
	if (ret)
		return ret;

	gpu = kzalloc(sizeof(*gpu), GFP_KERNEL);
	if (!gpu)
		return -ENOMEM;
	kref_init(&gpu->kref);
	gpu->slot = slot;
	gpu->index = index;
	gpu->pdev = pdev;
	mutex_init(&gpu->vf_mutex);
	INIT_LIST_HEAD(&gpu->clients);
	gpu->accounted = ktime_get();
	pci_set_drvdata(pdev, gpu);
	mutex_lock(&sim_gpu_mutex);
	slot->gpu[index] = gpu;
	mutex_unlock(&sim_gpu_mutex);

	dev = make_device(gpu);
	if (IS_ERR(dev)) {
		mutex_lock(&sim_gpu_mutex);
		slot->gpu[index] = NULL;
		mutex_unlock(&sim_gpu_mutex);
		kref_put(&gpu->kref, gpu_free);
		return PTR_ERR(dev);
	}
	/* It may sleep when whoever administers the host lets it. */
	pci_set_power_state(pdev, PCI_D0);
	pm_runtime_put_noidle(&pdev->dev);
	return 0;
}

/*
 * Whether a removal still has to wait. Read without the mutex, because whoever
 * waits must not sleep here; who changes any of these wakes the waiter after.
 */
static bool removal_held(const struct sim_gpu *gpu)
{
	const struct sim_knobs *knobs = &gpu->slot->knobs;

	if (gpu->index)
		return false;
	return READ_ONCE(knobs->remove_block) ||
	       (READ_ONCE(knobs->remove_open) && READ_ONCE(gpu->users));
}

static void release(struct sim_knobs *knobs)
{
	knobs->remove_block = false;
	knobs->remove_open = false;
}

static int gpu_set_vfs(struct sim_gpu *gpu, int count)
{
	bool gone;
	int ret = 0;

	mutex_lock(&gpu->vf_mutex);
	mutex_lock(&sim_gpu_mutex);
	gone = gpu->gone;
	mutex_unlock(&sim_gpu_mutex);
	if (gone)
		ret = -ENODEV;
	else if (count)
		ret = pci_enable_sriov(gpu->pdev, count);
	else
		pci_disable_sriov(gpu->pdev);
	mutex_unlock(&gpu->vf_mutex);
	return ret;
}

/* By sriov_numvfs. */
static int gpu_sriov_configure(struct pci_dev *pdev, int count)
{
	return gpu_set_vfs(pci_get_drvdata(pdev), count) ?: count;
}

/* By itself, as drivers do from probe, devlink or their own files. */
static int order_vfs(struct sim_slot *slot, const char *number)
{
	struct sim_gpu *gpu;
	unsigned int count;
	int ret;

	if (kstrtouint(number, 10, &count) || count > SIM_VFS)
		return -EINVAL;
	mutex_lock(&sim_gpu_mutex);
	gpu = slot->gpu[0];
	if (gpu)
		kref_get(&gpu->kref);
	mutex_unlock(&sim_gpu_mutex);
	if (!gpu)
		return -ENODEV;
	ret = gpu_set_vfs(gpu, count);
	kref_put(&gpu->kref, gpu_free);
	return ret;
}

static void gpu_remove(struct pci_dev *pdev)
{
	struct sim_gpu *gpu = pci_get_drvdata(pdev);
	struct sim_slot *slot = gpu->slot;
	bool keep_vfs;

	pm_runtime_get_noresume(&pdev->dev);
	wait_event(release_wait, !removal_held(gpu));

	mutex_lock(&sim_gpu_mutex);
	gpu->gone = true;
	slot->gpu[gpu->index] = NULL;
	if (!gpu->index)
		release(&slot->knobs);
	keep_vfs = slot->knobs.keep_vfs;
	slot->knobs.keep_vfs = false;
	mutex_unlock(&sim_gpu_mutex);

	mutex_lock(&gpu->vf_mutex);
	if (!keep_vfs)
		pci_disable_sriov(pdev);
	mutex_unlock(&gpu->vf_mutex);
	device_destroy(&gpu_class, devt_of(gpu));
	kref_put(&gpu->kref, gpu_free);
}

static unsigned int read_locked(const unsigned int *value)
{
	unsigned int now;

	mutex_lock(&sim_gpu_mutex);
	now = *value;
	mutex_unlock(&sim_gpu_mutex);
	return now;
}

static ssize_t users_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	struct sim_gpu *gpu = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%u\n", read_locked(&gpu->users));
}
static DEVICE_ATTR_RO(users);

static ssize_t persistence_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	struct sim_gpu *gpu = dev_get_drvdata(dev);
	bool persistent;

	mutex_lock(&sim_gpu_mutex);
	persistent = gpu->persistent;
	mutex_unlock(&sim_gpu_mutex);
	return sysfs_emit(buf, "%d\n", persistent);
}

static ssize_t persistence_store(struct device *dev,
				 struct device_attribute *attr,
				 const char *buf, size_t count)
{
	struct sim_gpu *gpu = dev_get_drvdata(dev);
	bool persistent;
	int ret;

	ret = kstrtobool(buf, &persistent);
	if (ret)
		return ret;
	mutex_lock(&sim_gpu_mutex);
	if (persistent && !gpu->persistent)
		gpu->users++;
	if (!persistent && gpu->persistent)
		gpu->users--;
	gpu->persistent = persistent;
	mutex_unlock(&sim_gpu_mutex);
	wake_up_all(&release_wait);
	return count;
}
static DEVICE_ATTR_RW(persistence);

static ssize_t memory_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	struct sim_gpu *gpu = dev_get_drvdata(dev);
	struct sim_slot *slot = gpu->slot;
	char text[SIM_MEMORY_BYTES];

	raw_spin_lock_irq(&slot->port.lock);
	memcpy(text, slot->card.memory[gpu->index], sizeof(text));
	raw_spin_unlock_irq(&slot->port.lock);
	return sysfs_emit(buf, "%s\n", text);
}

static ssize_t memory_store(struct device *dev, struct device_attribute *attr,
			    const char *buf, size_t count)
{
	struct sim_gpu *gpu = dev_get_drvdata(dev);
	struct sim_slot *slot = gpu->slot;
	char text[SIM_MEMORY_BYTES] = "";

	if (count >= sizeof(text))
		return -EINVAL;
	memcpy(text, buf, count);
	strim(text);
	raw_spin_lock_irq(&slot->port.lock);
	memcpy(slot->card.memory[gpu->index], text, sizeof(text));
	raw_spin_unlock_irq(&slot->port.lock);
	return count;
}
static DEVICE_ATTR_RW(memory);

static ssize_t busy_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	struct sim_gpu *gpu = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%u\n", read_locked(&gpu->busy));
}

static ssize_t busy_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t count)
{
	struct sim_gpu *gpu = dev_get_drvdata(dev);
	unsigned int busy;

	if (kstrtouint(buf, 10, &busy) || busy > 100)
		return -EINVAL;
	mutex_lock(&sim_gpu_mutex);
	gpu_account(gpu);
	gpu->busy = busy;
	mutex_unlock(&sim_gpu_mutex);
	return count;
}
static DEVICE_ATTR_RW(busy);

static ssize_t used_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	struct sim_gpu *gpu = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%u\n", read_locked(&gpu->used_mib));
}

static ssize_t used_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t count)
{
	struct sim_gpu *gpu = dev_get_drvdata(dev);
	unsigned int used;

	/* The counter is in KiB. */
	if (kstrtouint(buf, 10, &used) || used > UINT_MAX / 1024)
		return -EINVAL;
	mutex_lock(&sim_gpu_mutex);
	gpu->used_mib = used;
	mutex_unlock(&sim_gpu_mutex);
	return count;
}
static DEVICE_ATTR_RW(used);

static ssize_t gpu_busy_percent_show(struct device *dev,
				     struct device_attribute *attr, char *buf)
{
	struct sim_gpu *gpu = dev_get_drvdata(dev);
	unsigned int busy;

	mutex_lock(&sim_gpu_mutex);
	busy = gpu->n_clients ? gpu->busy : 0;
	mutex_unlock(&sim_gpu_mutex);
	return sysfs_emit(buf, "%u\n", busy);
}
static DEVICE_ATTR_RO(gpu_busy_percent);

static ssize_t mem_info_vram_used_show(struct device *dev,
				       struct device_attribute *attr, char *buf)
{
	struct sim_gpu *gpu = dev_get_drvdata(dev);
	u64 used;

	mutex_lock(&sim_gpu_mutex);
	used = gpu->n_clients ? gpu->used_mib : 0;
	mutex_unlock(&sim_gpu_mutex);
	return sysfs_emit(buf, "%llu\n", used << 20);
}
static DEVICE_ATTR_RO(mem_info_vram_used);

static struct attribute *gpu_attrs[] = {
	&dev_attr_users.attr,
	&dev_attr_persistence.attr,
	&dev_attr_memory.attr,
	&dev_attr_busy.attr,
	&dev_attr_used.attr,
	&dev_attr_gpu_busy_percent.attr,
	&dev_attr_mem_info_vram_used.attr,
	NULL
};
ATTRIBUTE_GROUPS(gpu);

static const struct pci_device_id gpu_ids[] = {
	{ PCI_DEVICE(SIM_VENDOR_ID, PCI_ANY_ID) },
	{ }
};

/* The PCI core does all that is to be done: it puts the GPU to sleep and wakes it. */
static const struct dev_pm_ops gpu_pm_ops = { };

static struct pci_driver gpu_driver = {
	.name = SIM_DRIVER_NAME,
	.id_table = gpu_ids,
	.probe = gpu_probe,
	.remove = gpu_remove,
	.sriov_configure = gpu_sriov_configure,
	.dev_groups = gpu_groups,
	.driver = {
		.pm = &gpu_pm_ops,
	},
};

/* Comes after whoever else listens; the driver core holds the device's lock. */
static int bus_event(struct notifier_block *nb, unsigned long action,
		     void *data)
{
	struct device *dev = data;
	struct sim_slot *slot;
	unsigned int ms, index;

	if (action != BUS_NOTIFY_BOUND_DRIVER ||
	    dev->driver != &gpu_driver.driver)
		return NOTIFY_DONE;
	slot = sim_slot_of_card(to_pci_dev(dev), &index);
	if (!slot || index)
		return NOTIFY_DONE;
	mutex_lock(&sim_gpu_mutex);
	ms = slot->knobs.bound_ms;
	slot->knobs.bound_ms = 0;
	mutex_unlock(&sim_gpu_mutex);
	if (ms)
		msleep(ms);
	return NOTIFY_DONE;
}

static struct notifier_block bus_notifier = {
	.notifier_call = bus_event,
	.priority = INT_MIN,
};

static int parse_order(struct sim_knobs *knobs, const char *order)
{
	const char *number = strchr(order, ' ');
	size_t len = number ? number - order : strlen(order);
	unsigned int value = 1;

	if (number && kstrtouint(number + 1, 10, &value))
		return -EINVAL;
	if (len == 10 && !strncmp(order, "probe-fail", len))
		knobs->probe_fail = value;
	else if (len == 10 && !strncmp(order, "probe-slow", len) && number &&
		 value <= 600000)
		knobs->probe_ms = value;
	else if (len == 10 && !strncmp(order, "bound-slow", len) && number &&
		 value <= 600000)
		knobs->bound_ms = value;
	else if (!strcmp(order, "remove-block"))
		knobs->remove_block = true;
	else if (!strcmp(order, "remove-wait-close"))
		knobs->remove_open = true;
	else if (!strcmp(order, "remove-release"))
		release(knobs);
	else if (!strcmp(order, "remove-keep-vfs"))
		knobs->keep_vfs = true;
	else if (!strcmp(order, "none"))
		memset(knobs, 0, sizeof(*knobs));
	else
		return -EINVAL;
	return 0;
}

/**
 * sim_driver_order() - tell the driver what to do next time
 * @slot: for the GPU in this slot
 * @order: "probe-fail [COUNT]", "probe-slow MS", "bound-slow MS",
 *	"remove-block", "remove-wait-close", "remove-release",
 *	"remove-keep-vfs", or "none" of them; or, at once, to have "vfs COUNT" virtual functions
 *
 * Return: 0, -EINVAL for any other order, or why there are no virtual functions.
 */
int sim_driver_order(struct sim_slot *slot, const char *order)
{
	int ret;

	if (!strncmp(order, "vfs ", 4))
		return order_vfs(slot, order + 4);

	mutex_lock(&sim_gpu_mutex);
	ret = parse_order(&slot->knobs, order);
	mutex_unlock(&sim_gpu_mutex);
	wake_up_all(&release_wait);
	return ret;
}

/**
 * sim_driver_show() - say what the driver does with a slot
 * @slot: the slot
 * @text: where to say it
 * @size: size of @text
 */
void sim_driver_show(struct sim_slot *slot, char *text, size_t size)
{
	const struct sim_knobs *knobs = &slot->knobs;

	mutex_lock(&sim_gpu_mutex);
	scnprintf(text, size, "%s users %u%s%s%s%s%s%s\n",
		  slot->gpu[0] ? "bound" : "unbound",
		  slot->gpu[0] ? slot->gpu[0]->users : 0,
		  knobs->probe_fail ? " probe-fail" : "",
		  knobs->probe_ms ? " probe-slow" : "",
		  knobs->bound_ms ? " bound-slow" : "",
		  knobs->remove_block ? " remove-block" : "",
		  knobs->remove_open ? " remove-wait-close" : "",
		  knobs->keep_vfs ? " remove-keep-vfs" : "");
	mutex_unlock(&sim_gpu_mutex);
}

/**
 * sim_driver_forget() - take all orders back, so that held removals go on
 * @sw: for the slots of this switch
 */
void sim_driver_forget(struct sim_switch *sw)
{
	struct sim_slot *slot;
	unsigned int i;

	mutex_lock(&sim_gpu_mutex);
	for (i = 0; (slot = sim_slot_at(sw, i)); i++)
		memset(&slot->knobs, 0, sizeof(slot->knobs));
	mutex_unlock(&sim_gpu_mutex);
	wake_up_all(&release_wait);
}

/**
 * sim_driver_register() - make the driver ready to bind
 *
 * Return: 0 or an error.
 */
int sim_driver_register(void)
{
	unsigned int count = SIM_CARD_GPUS * sim_minors();
	int ret;

	ret = class_register(&gpu_class);
	if (ret)
		return ret;
	ret = alloc_chrdev_region(&gpu_devt, 0, count, "gpufabric-sim");
	if (ret)
		goto unregister_class;
	cdev_init(&gpu_cdev, &gpu_fops);
	gpu_cdev.owner = THIS_MODULE;
	ret = cdev_add(&gpu_cdev, gpu_devt, count);
	if (ret)
		goto free_region;
	ret = bus_register_notifier(&pci_bus_type, &bus_notifier);
	if (ret)
		goto del_cdev;
	ret = pci_register_driver(&gpu_driver);
	if (ret)
		goto unregister_notifier;
	return 0;

unregister_notifier:
	bus_unregister_notifier(&pci_bus_type, &bus_notifier);
del_cdev:
	cdev_del(&gpu_cdev);
free_region:
	unregister_chrdev_region(gpu_devt, count);
unregister_class:
	class_unregister(&gpu_class);
	return ret;
}

/**
 * sim_driver_unregister() - the opposite; no GPU is left
 */
void sim_driver_unregister(void)
{
	pci_unregister_driver(&gpu_driver);
	bus_unregister_notifier(&pci_bus_type, &bus_notifier);
	cdev_del(&gpu_cdev);
	unregister_chrdev_region(gpu_devt, SIM_CARD_GPUS * sim_minors());
	class_unregister(&gpu_class);
}
